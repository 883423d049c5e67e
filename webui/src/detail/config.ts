// What pages read from an experiment's configuration, which is plain data of any generation.

import { SEARCHERS } from "../searchers";
import { isRecord } from "./plain";

export type Config = Record<string, unknown>;

export function searcherOf(config: Config): Config {
  const searcher = config["searcher"];
  return isRecord(searcher) ? searcher : {};
}

export function searcherMetric(config: Config): string | null {
  const metric = searcherOf(config)["metric"];
  return typeof metric === "string" ? metric : null;
}

export function isSmallerBetter(config: Config): boolean {
  return searcherOf(config)["smaller_is_better"] !== false;
}

export function slotsPerTrial(config: Config): number {
  const resources = config["resources"];
  const slots = isRecord(resources) ? resources["slots_per_trial"] : undefined;
  return typeof slots === "number" ? slots : 1;
}

export function maxRestarts(config: Config): number | null {
  const most = config["max_restarts"];
  return typeof most === "number" ? most : null;
}

/** The run that failed when no restart was left is counted by the master, and was no restart. */
export function restartWords(counted: number, most: number | null): string {
  return most === null ? String(counted) : `${Math.min(counted, most)} of ${most} allowed`;
}

export function declaredHparams(config: Config): Config {
  const declared = config["hyperparameters"];
  return isRecord(declared) ? declared : {};
}

/** One trial is all there will be: the page shows it instead of a list of one. */
export function isSingleTrial(config: Config, numTrials: number, unmanaged: boolean): boolean {
  if (unmanaged) return numTrials <= 1;
  const searcher = searcherOf(config);
  return !isMultiTrial(searcher["name"]) || searcher["max_trials"] === 1;
}

/** Whether a searcher of this name may run more than one trial; one that is not known may. */
export function isMultiTrial(name: unknown): boolean {
  return SEARCHERS[String(name)]?.isMultiTrial ?? true;
}

/** The trial whose checkpoint a continued experiment started from. */
export function continuedFrom(config: Config): number | null {
  const source = searcherOf(config)["source_trial_id"];
  return typeof source === "number" ? source : null;
}
