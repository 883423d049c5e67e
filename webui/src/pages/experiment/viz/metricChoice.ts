// Which metric a picture shows, and of which moment: the best or last value of each trial, or the one at a batch.

import { isSmallerBetter, searcherMetric } from "../../../detail/config";
import { keyOf, type Metric, metricOf, metricsOf, summaryValue } from "../../../detail/metricNames";
import type { Experiment, Trial } from "../../../detail/types";

export function metricChoices(trials: readonly Trial[]): string[] {
  return [...new Set(trials.flatMap((trial) => metricsOf(trial.summaryMetrics).map(keyOf)))].sort();
}

export function defaultMetric(experiment: Experiment, choices: readonly string[]): string {
  const searcher = `validation.${searcherMetric(experiment.config) ?? ""}`;
  return choices.includes(searcher) ? searcher : (choices[0] ?? "");
}

/** The value of a trial. The best is the least or the greatest as the searcher would have it for its own metric. */
export function trialValue(trial: Trial, key: string, at: "best" | "last", experiment: Experiment): number | null {
  const metric: Metric = metricOf(key);
  if (at === "last") return summaryValue(trial.summaryMetrics, metric, "last");
  const isSearcher = metric.group === "validation" && metric.name === searcherMetric(experiment.config);
  if (isSearcher && typeof trial.searcherMetricValue === "number") return trial.searcherMetricValue;
  return summaryValue(trial.summaryMetrics, metric, isSmallerBetter(experiment.config) ? "min" : "max");
}
