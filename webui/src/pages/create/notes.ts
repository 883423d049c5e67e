// What the writer should know besides the plan. Pure.

import { isRecord } from "../../detail/plain";
import { count } from "../../ui/format";
import { stateOf } from "../../ui/state";
import { hparamsOf } from "./hparams";
import type { Mode } from "./start";
import { isSame, overrideOf, type Plain, valueAt } from "./values";

export interface Situation {
  mode: Mode;
  object: Plain | null;
  /** Of an experiment that goes on under its own id: its configuration before any change; else null. */
  base: Plain | null;
  hasCode: boolean;
  /** State of the trial that goes on, where one does. */
  trialState?: string | undefined;
}

// A trial that was stopped half-way just goes on.
const UNCHANGED: Record<string, string> = {
  STATE_COMPLETED: "a trial that has finished has nothing left to do",
  STATE_ERROR: "it fails again unless the cause is gone (data, disk, packages); its code stays as it was sent",
};

export function notesFor({ mode, object, base, hasCode, trialState }: Situation): string[] {
  if (object === null) return [];
  const notes: string[] = [];
  if (mode === "new" && !hasCode) notes.push("No code is chosen (see Files): the command runs in an empty folder.");
  if (mode === "hpsearch" && hparamsOf(object["hyperparameters"]).every(({ kind }) => kind === "const")) {
    notes.push("No hyperparameter varies yet: all trials would be the same. Give one a range.");
  }
  if (base === null) return notes;
  const { gone } = overrideOf(base, object);
  if (gone.length > 0) notes.push(`Continuing keeps what is taken out of the text: ${gone.join(", ")}.`);
  const unchanged = UNCHANGED[trialState ?? ""];
  if (isSame(base, object) && unchanged !== undefined) notes.push(`Nothing is changed: ${unchanged}.`);
  return notes;
}

export interface Going {
  id: number;
  state: string;
  totalBatchesProcessed: number;
  checkpointCount?: number | null | undefined;
}

/** What continuing does to the trial: "Trial 4 (completed) has trained 10 batches and goes on to 30 batches." */
export function goingOn(trial: Going, object: Plain | null): string {
  const done = `Trial ${trial.id} (${stateOf(trial.state).word.toLowerCase()}) has trained ${count(trial.totalBatchesProcessed)} batches`;
  if ((trial.checkpointCount ?? 0) === 0) return `${done}, saved no checkpoint and starts over.`;
  const length = valueAt(object, ["searcher", "max_length"]) ?? valueAt(object, ["searcher", "max_time"]);
  const [unit, amount] = isRecord(length) ? (Object.entries(length)[0] ?? ["", undefined]) : ["", length];
  if (typeof amount !== "number") return `${done} and goes on from its latest checkpoint.`;
  return `${done} and goes on to ${count(amount)}${unit === "" ? "" : ` ${unit}`}.`;
}
