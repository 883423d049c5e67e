// The states of experiments, trials, jobs, tasks and deliveries as the page shows them: a glyph, a word and one of seven kinds.
export type StateKind = "queued" | "running" | "paused" | "done" | "error" | "stopped";

export interface ShownState {
  kind: StateKind;
  word: string;
  glyph: string;
}

export const GLYPHS: Record<StateKind, string> = {
  queued: "◔",
  running: "▶",
  paused: "❚❚",
  done: "✓",
  error: "✕",
  stopped: "■",
};

/** Takes the names of the API with or without their prefix: `STATE_ACTIVE`, `TRIAL_STATE_RUNNING`, `QUEUED`. */
export function stateOf(raw: string | null | undefined): ShownState {
  const name = (raw ?? "").toUpperCase().replace(/^([A-Z]+_)*STATE_/, "");
  const [kind, word] = KNOWN[name] ?? ["stopped", wordsOf(name)];
  return { kind, word, glyph: GLYPHS[kind] };
}

/** Whether the state can still change by itself. */
export function isLive(raw: string | null | undefined): boolean {
  const name = (raw ?? "").toUpperCase().replace(/^([A-Z]+_)*STATE_/, "");
  return !["COMPLETED", "CANCELED", "ERROR", "DELETED", "DELETE_FAILED", "TERMINATED", "EXITED"].includes(name);
}

const KNOWN: Record<string, [StateKind, string]> = {
  ACTIVE: ["running", "Active"],
  RUNNING: ["running", "Running"],
  QUEUED: ["queued", "Queued"],
  PENDING: ["queued", "Pending"],
  ASSIGNED: ["queued", "Assigned"],
  WAITING: ["queued", "Waiting"],
  PULLING: ["queued", "Pulling image"],
  STARTING: ["queued", "Starting"],
  SCHEDULED: ["running", "Scheduled"],
  SCHEDULED_BACKFILLED: ["running", "Scheduled"],
  PAUSED: ["paused", "Paused"],
  COMPLETED: ["done", "Completed"],
  CANCELED: ["stopped", "Canceled"],
  ERROR: ["error", "Error"],
  STOPPING_COMPLETED: ["running", "Completing"],
  STOPPING_CANCELED: ["stopped", "Canceling"],
  STOPPING_KILLED: ["stopped", "Killing"],
  STOPPING_ERROR: ["error", "Failing"],
  STOPPING: ["stopped", "Stopping"],
  TERMINATING: ["stopped", "Terminating"],
  TERMINATED: ["stopped", "Terminated"],
  DELETING: ["stopped", "Deleting"],
  DELETE_FAILED: ["error", "Delete failed"],
  DELETED: ["stopped", "Deleted"],
  SENDING: ["running", "Sending"],
  DELIVERED: ["done", "Delivered"],
  FAILED: ["error", "Failed"],
  PARTIALLY_DELETED: ["stopped", "Partially deleted"],
};

function wordsOf(name: string): string {
  if (name === "" || name === "UNSPECIFIED") return "Unknown";
  const words = name.toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
