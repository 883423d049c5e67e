// The draft of a page: one store while it is mounted, checked against the chosen project, parent and template.
import { useEffect, useState, useSyncExternalStore } from "react";
import { call } from "../../api/client";
import { type Check, type DraftState, DraftStore } from "./draft";
import type { Edit, Plain } from "./values";

export interface Draft extends DraftState {
  begin: (text: string, editsOf: (object: Plain) => Edit[]) => Promise<string>;
  setText: (text: string) => void;
  edit: (edits: readonly Edit[]) => void;
}

export function useDraft(projectId: number | null, parentId: number | null, template: string): Draft {
  const [store] = useState(() => new DraftStore(checkFor(projectId, parentId, template)));
  const state = useSyncExternalStore(store.subscribe, store.snapshot);
  useEffect(() => store.recheck(checkFor(projectId, parentId, template)), [store, projectId, parentId, template]);
  useEffect(() => () => store.stop(), [store]);
  const [actions] = useState(() => ({
    begin: store.begin.bind(store),
    setText: store.setText.bind(store),
    edit: store.edit.bind(store),
  }));
  return { ...state, ...actions };
}

function checkFor(projectId: number | null, parentId: number | null, template: string): Check {
  const where = { projectId, parentId, template: template || null };
  return (config, signal) => call("dryRunExperiment", { body: { config, ...where } }, signal);
}
