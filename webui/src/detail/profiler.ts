// Series of the profiler: which belong on one chart, what they are called, their batches as one line.

import type { Schemas } from "../api/schema";

export type Labels = Schemas["TrialProfilerMetricLabels"];
export type ProfilerBatch = Pick<Schemas["TrialProfilerMetricsBatch"], "timestamps" | "values">;

/** Metric by metric, in the order of their names. */
export function byMetric(labels: readonly Labels[]): [string, Labels[]][] {
  const found = new Map<string, Labels[]>();
  for (const one of labels) found.set(one.name, [...(found.get(one.name) ?? []), one]);
  return [...found].sort(([a], [b]) => a.localeCompare(b));
}

/** Agent, and the device where there is one. */
export function nameOf(labels: Labels): string {
  return [labels.agentId, labels.gpuUuid].filter((word) => word).join(" ");
}

/** Times in seconds, in order. */
export function joined(batches: readonly ProfilerBatch[]): { x: number[]; y: number[] } {
  return {
    x: batches.flatMap((batch) => batch.timestamps.map((time) => Date.parse(time) / 1000)),
    y: batches.flatMap((batch) => batch.values),
  };
}
