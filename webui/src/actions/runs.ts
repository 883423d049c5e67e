// One verb on many runs, named by id or by a filter; answers which were done, so that exactly those can be undone.

import { call } from "../api/client";

export type RunVerb = "pause" | "resume" | "kill" | "archive" | "unarchive" | "delete" | "move";
export type RunTarget = { runIds: number[] } | { filter: string; projectId: number };

export interface RunOutcome {
  done: number[];
  failed: { id: number; error: string }[];
  /** Those of `done` that were not so before: what an undo is about. */
  changed: number[];
  /** After a move: the ids by the project they came from. */
  movedFrom: ReadonlyMap<number, number[]>;
}

export interface WireResult {
  id: number;
  error: string;
  changed?: boolean | undefined;
  previousProjectId?: number | null | undefined;
}

const UNDO: Partial<Record<RunVerb, RunVerb>> = {
  pause: "resume",
  resume: "pause",
  archive: "unarchive",
  unarchive: "archive",
};

export function undoOfRuns(verb: RunVerb): RunVerb | null {
  return UNDO[verb] ?? null;
}

export async function actOnRuns(verb: Exclude<RunVerb, "move">, target: RunTarget): Promise<RunOutcome> {
  const answer = await call(`${verb}Runs`, { body: target });
  return outcomeOf(answer.results);
}

export async function moveRuns(target: RunTarget, sourceProjectId: number, to: number): Promise<RunOutcome> {
  const chosen = "runIds" in target ? { runIds: target.runIds } : { filter: target.filter };
  const body = { ...chosen, sourceProjectId, destinationProjectId: to };
  const answer = await call("moveRuns", { body });
  return outcomeOf(answer.results);
}

export function outcomeOf(results: readonly WireResult[]): RunOutcome {
  const done = results.filter((one) => one.error === "");
  const movedFrom = new Map<number, number[]>();
  for (const { id, previousProjectId } of done) {
    if (typeof previousProjectId === "number")
      movedFrom.set(previousProjectId, [...(movedFrom.get(previousProjectId) ?? []), id]);
  }
  return {
    done: done.map((one) => one.id),
    failed: results.filter((one) => one.error !== "").map(({ id, error }) => ({ id, error })),
    changed: done.filter((one) => one.changed !== false).map((one) => one.id),
    movedFrom,
  };
}

/** `Paused 12 trials; 3 could not be: trials 4, 5: it has ended; trial 9: …`. All of them are named. */
export function outcomeText(word: string, outcome: Pick<RunOutcome, "done" | "failed">, noun = "trial"): string {
  const n = outcome.done.length;
  const done = `${word} ${n} ${n === 1 ? noun : `${noun}s`}`;
  if (outcome.failed.length === 0) return done;
  const byError = new Map<string, number[]>();
  for (const { id, error } of outcome.failed) {
    byError.set(error, [...(byError.get(error) ?? []), id]);
  }
  const reasons = [...byError].map(([reason, ids]) =>
    ids.length === 1 ? `${noun} ${ids[0]}: ${reason}` : `${noun}s ${ids.join(", ")}: ${reason}`,
  );
  return `${done}; ${outcome.failed.length} could not be: ${reasons.join("; ")}`;
}
