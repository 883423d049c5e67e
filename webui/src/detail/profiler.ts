// Series of the profiler: which belong on one chart, what they are called, their batches as one line that grows.

import type { Schemas } from "../api/schema";

export type Labels = Schemas["TrialProfilerMetricLabels"];
export type ProfilerBatch = Pick<Schemas["TrialProfilerMetricsBatch"], "batches" | "timestamps" | "values">;

/** Times in seconds, in order; `last` is the number of the last sample, -1 without any. */
export interface ProfilerLine {
  x: number[];
  y: number[];
  last: number;
}

export const NO_SAMPLES: ProfilerLine = { x: [], y: [], last: -1 };

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

/** The line with these samples after it; the same line when there are none. */
export function extended(line: ProfilerLine, batches: readonly ProfilerBatch[]): ProfilerLine {
  if (batches.length === 0) return line;
  return {
    x: [...line.x, ...batches.flatMap((batch) => batch.timestamps.map((time) => Date.parse(time) / 1000))],
    y: [...line.y, ...batches.flatMap((batch) => batch.values)],
    last: batches.at(-1)?.batches.at(-1) ?? line.last,
  };
}
