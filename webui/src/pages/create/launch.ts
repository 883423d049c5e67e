// Submits the draft: as a new experiment, or as more training of an old one.
import { call } from "../../api/client";
import type { Code } from "./FilesPanel";
import { toWire } from "./files";
import { overrideOf, type Plain } from "./values";

export interface Launched {
  id: number;
  messages: string[];
}

export interface NewExperiment {
  text: string;
  projectId: number;
  parentId: number | null;
  /** Its name; empty: none. */
  template: string;
  code: Code | null;
  activate: boolean;
}

export async function create(experiment: NewExperiment): Promise<Launched> {
  const { text, projectId, parentId, template, code, activate } = experiment;
  const answer = await call("createExperiment", {
    body: {
      config: text,
      projectId,
      parentId,
      template: template || null,
      activate,
      ...(code ? { modelDefinition: toWire(code.files) } : {}),
    },
  });
  return { id: answer.experiment.id, messages: answer.messages ?? [] };
}

/** `before` and `after`: its configuration as it was and as it should be; null where nothing may change. */
export async function continueSame(id: number, before: Plain | null, after: Plain | null): Promise<Launched> {
  const override = before && after ? overrideOf(before, after).override : {};
  const isChanged = Object.keys(override).length > 0;
  const answer = await call("continueExperiment", {
    // JSON is YAML
    body: { id, ...(isChanged ? { overrideConfig: JSON.stringify(override) } : {}) },
  });
  return { id: answer.experiment.id, messages: [] };
}
