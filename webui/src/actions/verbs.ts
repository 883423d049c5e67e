// What may be done to an experiment or a run in which state, and what undoes it. Pure.

export type Verb =
  | "activate"
  | "pause"
  | "cancel"
  | "kill"
  | "archive"
  | "unarchive"
  | "move"
  | "delete"
  | "fork"
  | "continue"
  | "hpsearch"
  | "tensorboard"
  | "labels";

export interface Steerable {
  state: string;
  archived: boolean;
  unmanaged?: boolean | null | undefined;
  parentArchived?: boolean | null | undefined;
}

export const LABELS: Record<Verb, string> = {
  activate: "Activate",
  pause: "Pause",
  cancel: "Stop…",
  kill: "Kill…",
  archive: "Archive",
  unarchive: "Unarchive",
  move: "Move…",
  delete: "Delete…",
  fork: "Fork…",
  continue: "Continue…",
  hpsearch: "Hyperparameter search…",
  tensorboard: "Open in TensorBoard",
  labels: "Edit tags…",
};

/** What a toast says was done. */
export const DONE: Partial<Record<Verb, string>> = {
  activate: "Activated",
  pause: "Paused",
  cancel: "Stopping; it saves a checkpoint first",
  kill: "Killed",
  archive: "Archived",
  unarchive: "Unarchived",
  delete: "Deleting",
};

const UNDO: Partial<Record<Verb, Verb>> = {
  activate: "pause",
  pause: "activate",
  archive: "unarchive",
  unarchive: "archive",
};

const ENDED = new Set(["COMPLETED", "CANCELED", "ERROR", "DELETE_FAILED"]);
const GONE = new Set(["DELETED", "DELETING"]);

export function undoOf(verb: Verb): Verb | null {
  return UNDO[verb] ?? null;
}

export function shortState(state: string): string {
  return state.replace(/^STATE_/, "");
}

export function isEnded(state: string): boolean {
  return ENDED.has(shortState(state)) || GONE.has(shortState(state));
}

export function isPausable(state: string): boolean {
  return ["ACTIVE", "RUNNING", "QUEUED", "PULLING", "STARTING"].includes(shortState(state));
}

/** Whether the verb makes sense now; what does not is shown greyed, so that menus keep their places. */
export function allows(verb: Verb, one: Steerable): boolean {
  const state = shortState(one.state);
  const isManaged = !one.unmanaged;
  const isOver = ENDED.has(state);
  const isStopping = state.startsWith("STOPPING_");
  if (GONE.has(state)) return false;
  switch (verb) {
    case "activate":
      return isManaged && state === "PAUSED";
    case "pause":
      return isManaged && isPausable(state);
    case "cancel":
      return isManaged && !isOver && !isStopping;
    case "kill":
      return isManaged && !isOver;
    case "archive":
      return isOver && !one.archived;
    case "unarchive":
      return one.archived && !one.parentArchived;
    case "delete":
      return isOver;
    case "continue":
      return isManaged && isOver && !one.archived;
    case "fork":
    case "hpsearch":
      return isManaged;
    case "tensorboard":
      return true;
    case "move":
    case "labels":
      return !one.archived;
  }
}
