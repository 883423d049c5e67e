// What the editor starts with: the parent's configuration, changed as the mode asks. Pure.
import { isMultiTrial } from "../../detail/config";
import { isRecord } from "../../detail/plain";
import { COMMON_KEYS, SEARCHERS, type Searcher } from "../../searchers";
import { hparamsOf } from "./hparams";
import { type Edit, type Path, type Plain, valueAt } from "./values";

export type Mode = "new" | "fork" | "continue" | "hpsearch";

/** Continuing: under its own id, or as a new experiment that begins with the trial's checkpoint. */
export type Way = "same" | "fork";

export interface Source {
  id: number;
  /** The trial whose values and checkpoint are taken. */
  trialId?: number | undefined;
  hparams?: Plain | undefined;
}

export const EXAMPLE_CONFIG = `name: my-first-experiment
entrypoint: python3 train.py
hyperparameters:
  learning_rate: 0.1
searcher:
  name: single
  metric: loss
  smaller_is_better: true
resources:
  slots_per_trial: 1
max_restarts: 0
`;

export const EXAMPLE_CODE = `"""Fits a line to points and reports how far off it is."""

import determined as det


def main(context: det.core.Context, learning_rate: float) -> None:
    slope = 0.0
    for step in range(1, 101):
        loss = (slope - 3.0) ** 2
        slope -= learning_rate * 2 * (slope - 3.0)
        if step % 10 == 0:
            context.train.report_training_metrics(steps_completed=step, metrics={"loss": loss})
        if context.preempt.should_preempt():
            return
    context.train.report_validation_metrics(steps_completed=100, metrics={"loss": loss})


if __name__ == "__main__":
    info = det.get_cluster_info()
    assert info is not None
    with det.core.init() as context:
        main(context, info.trial.hparams["learning_rate"])
`;

const TRIALS = 16;
const LENGTH = ["max_length", "time_metric", "max_time"];

/** The search methods that the form offers, by name. */
export const METHODS = Object.entries(SEARCHERS).filter(([, { label }]) => label !== "");
const ONE_TRIAL = nameOf(({ isMultiTrial }) => !isMultiTrial);
const WITH_LENGTH = nameOf(({ needsLength }) => needsLength);
const WITHOUT_LENGTH = nameOf(({ keys, needsLength }) => keys.includes("max_trials") && !needsLength);

/** The edits that make the parent's configuration the one to start with. */
export function startEdits(mode: Mode, way: Way, config: Plain, source: Source): Edit[] {
  if (mode === "hpsearch") return searchEdits(config);
  if (mode === "continue" && way === "same")
    return ["project", "workspace"].filter((key) => key in config).map(without);
  if (source.trialId === undefined) return [];
  const edits = [...methodEdits(config, ONE_TRIAL), ...hparamEdits(config, source.hparams ?? {})];
  const ofCheckpoint = [
    { path: ["searcher", "source_trial_id"], value: source.trialId },
    { path: ["searcher", "source_checkpoint_uuid"], value: undefined },
  ];
  return mode === "continue" ? [...edits, ...ofCheckpoint] : edits;
}

/** The edits that change the search method: what the new one does not know goes, what it needs comes. */
export function methodEdits(config: Plain, method: string): Edit[] {
  const searcher = valueAt(config, ["searcher"]);
  const now = isRecord(searcher) ? searcher : {};
  if (now["name"] === method) return [];
  const known = SEARCHERS[method]?.keys ?? [];
  const kept = [...COMMON_KEYS, ...known];
  const edits: Edit[] = [{ path: ["searcher", "name"], value: method }];
  for (const key of Object.keys(now)) {
    if (key !== "name" && !kept.includes(key)) edits.push({ path: ["searcher", key], value: undefined });
  }
  if (known.includes("max_trials") && now["max_trials"] === undefined) {
    edits.push({ path: ["searcher", "max_trials"], value: TRIALS });
  }
  return edits;
}

/** What the parent was called, told apart. */
export function startName(mode: Mode, way: Way, name: string): string {
  if (mode === "new" || (mode === "continue" && way === "same")) return name;
  const suffix = { fork: "fork", continue: "continued", hpsearch: "search" }[mode];
  return name.endsWith(` (${suffix})`) ? name : `${name} (${suffix})`;
}

function searchEdits(config: Plain): Edit[] {
  const method = valueAt(config, ["searcher", "name"]);
  if (typeof method === "string" && isMultiTrial(method)) return [];
  const hasLength = LENGTH.some((key) => valueAt(config, ["searcher", key]) !== undefined);
  return methodEdits(config, hasLength ? WITH_LENGTH : WITHOUT_LENGTH);
}

/** The first method of the form with a trait. */
function nameOf(hasTrait: (searcher: Searcher) => boolean): string {
  return METHODS.find(([, searcher]) => hasTrait(searcher))?.[0] ?? "";
}

function without(key: string): Edit {
  return { path: [key], value: undefined };
}

/** Every declared hyperparameter gets the value that the trial had. */
function hparamEdits(config: Plain, values: Plain): Edit[] {
  return hparamsOf(config["hyperparameters"])
    .map(({ path }): Edit => ({ path: ["hyperparameters", ...path], value: valueAt(values, path) }))
    .filter(({ path, value }) => value !== undefined && !isConstant(config, path, value));
}

function isConstant(config: Plain, path: Path, value: unknown): boolean {
  return Object.is(valueAt(config, path), value);
}
