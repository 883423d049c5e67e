// Which two metrics a Pareto front is of until a reader chooses, and which way each is better.

import { type Config, isSmallerBetter, searcherMetric, searcherOf } from "../../../detail/config";
import { isRecord } from "../../../detail/plain";

const GREATER = /acc|auc|f1|score|precision|recall|bleu|iou|reward|throughput|per_s(ec)?$/i;

/** The searcher's own objectives, else its metric and another that trials report; empty when there are no two. */
export function firstTwo(config: Config, reported: readonly string[]): string[] {
  const declared = objectivesOf(config).map((one) => one.name);
  const own = declared.length > 0 ? declared : [searcherMetric(config) ?? ""];
  const names = [...new Set([...own, ...reported])].filter((name) => reported.includes(name));
  return names.length < 2 ? [] : names.slice(0, 2);
}

/** As the configuration says; for other metrics a guess by name, which the reader can turn around. */
export function isSmallerUsual(config: Config, name: string): boolean {
  const declared = objectivesOf(config).find((one) => one.name === name);
  if (declared) return declared.isSmallerBetter;
  return name === searcherMetric(config) ? isSmallerBetter(config) : !GREATER.test(name);
}

function objectivesOf(config: Config): { name: string; isSmallerBetter: boolean }[] {
  const given = searcherOf(config)["metrics"];
  if (!Array.isArray(given)) return [];
  return given
    .filter(isRecord)
    .map((one) => ({ name: String(one["name"]), isSmallerBetter: one["smaller_is_better"] !== false }));
}
