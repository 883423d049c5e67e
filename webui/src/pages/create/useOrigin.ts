// What the draft comes from and where it goes: mode, parent, trial, project; and the draft itself.
import { useEffect, useMemo, useState } from "react";
import type { Schemas } from "../../api/schema";
import { isMultiTrial, searcherOf } from "../../detail/config";
import { markersOf } from "../../detail/problems";
import type { LineMarker } from "../../ui/CodeEditor";
import { isLive } from "../../ui/state";
import { int, text, useUrlState } from "../../url";
import { EXAMPLE_CONFIG, type Mode, startEdits, startName, type Way } from "./start";
import { type Draft, useDraft } from "./useDraft";
import { type Edit, type Plain, refreshEdits, withEdits } from "./values";

export interface Origin {
  draft: Draft;
  markers: LineMarker[];
  way: Way;
  setWay: (way: Way) => void;
  trialId: number | undefined;
  setTrial: (id: number) => void;
  projectId: number;
  setProject: (id: number) => void;
  /** Its name; empty: none. */
  template: string;
  setTemplate: (name: string) => void;
  /** It goes on under its own id. */
  isSame: boolean;
  isSingle: boolean;
  /** It goes on without any change. */
  isFixed: boolean;
  /** Why it cannot go on under its own id. */
  refusal: string | null;
  /** Its configuration before any change, as an object and as text. */
  base: Plain | null;
  parentText: string;
  /** The trial that goes on or whose checkpoint is taken. */
  trial: Schemas["Trial"] | undefined;
}

type Experiment = Schemas["Experiment"];

const UNCATEGORIZED = 1;

export function useOrigin(mode: Mode, parent: Experiment | null, trials: readonly Schemas["Trial"][]): Origin {
  const [asked] = useUrlState("project", int, UNCATEGORIZED);
  const [chosenTrial, setTrial] = useUrlState("trial", int, 0);
  const [askedTemplate] = useUrlState("template", text, "");
  const [projectId, setProject] = useState(parent?.projectId ?? asked);
  const [template, setTemplate] = useState(parent?.template ?? askedTemplate);
  const isSingle = parent ? !isMultiTrial(searcherOf(parent.config)["name"]) : false;
  const refusal = parent ? refusalOf(parent, isSingle, trials) : null;
  const [way, setWay] = useState<Way>(isSingle && refusal === null ? "same" : "fork");
  const isSame = mode === "continue" && way === "same";
  const trial = trialOf(mode, parent, trials, chosenTrial);
  // the configuration of what goes on has its template in it already
  const draft = useDraft(projectId, parent?.id ?? null, isSame ? "" : template);
  const { base, parentText } = useBeginning(draft, mode, way, parent, trial);
  const markers = useMemo(() => markersOf(draft.answer?.problems ?? []), [draft.answer]);
  return {
    draft,
    markers,
    way,
    setWay,
    trialId: trial?.id,
    setTrial,
    projectId,
    setProject,
    template,
    setTemplate,
    isSame,
    isSingle,
    isFixed: isSame && !isSingle,
    refusal,
    base,
    parentText,
    trial,
  };
}

/** Begins the draft, and again when the choice above it changes. */
function useBeginning(
  draft: Draft,
  mode: Mode,
  way: Way,
  parent: Experiment | null,
  trial: Schemas["Trial"] | undefined,
): { base: Plain | null; parentText: string } {
  const [base, setBase] = useState<Plain | null>(null);
  const [parentText, setParentText] = useState(parent?.originalConfig ?? "");
  const { begin } = draft;
  const isSame = mode === "continue" && way === "same";
  const trialId = trial?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is being written must not begin again when the parent is read again
  useEffect(() => {
    if (!parent) {
      void begin(EXAMPLE_CONFIG, () => []);
      return;
    }
    const source = { id: parent.id, trialId, hparams: trial?.hparams };
    const editsOf = (object: Plain) => {
      const first = isSame ? refreshEdits(object, parent.config) : [];
      const current = withEdits(object, first);
      const started = [...first, ...startEdits(mode, way, current, source)];
      setBase(isSame ? withEdits(object, started) : object);
      return [...started, ...nameEdits(mode, way, parent.name, current)];
    };
    void begin(parent.originalConfig, editsOf).then(setParentText);
  }, [begin, parent?.id, trialId, mode, way]);
  return { base, parentText };
}

function nameEdits(mode: Mode, way: Way, parentName: string, config: Plain): Edit[] {
  const value = startName(mode, way, parentName);
  return value === config["name"] || (mode === "continue" && way === "same") ? [] : [{ path: ["name"], value }];
}

/** Continuing takes the asked trial, else the best, else the first; the other modes only an asked one. */
function trialOf(mode: Mode, parent: Experiment | null, trials: readonly Schemas["Trial"][], asked: number) {
  const named = trials.find(({ id }) => id === asked);
  if (mode !== "continue") return named;
  return named ?? trials.find(({ id }) => id === parent?.bestTrialId) ?? trials[0];
}

function refusalOf(parent: Experiment, isSingle: boolean, trials: readonly Schemas["Trial"][]): string | null {
  if (parent.unmanaged) return "It runs outside the cluster; its own program continues it.";
  if (isLive(parent.state)) return "It has not ended yet; stop it first.";
  if (parent.archived) return "It is archived; unarchive it first.";
  const isDone = parent.state === "STATE_COMPLETED" && trials.every(({ state }) => state === "STATE_COMPLETED");
  return !isSingle && isDone ? "All its trials have finished: there is nothing to take up." : null;
}
