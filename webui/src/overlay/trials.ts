// Trials that are laid over one another: which metrics they have, and how many lines a chart bears. Pure.

import { keyOf, type Metric, metricsOf } from "../detail/metricNames";

export interface OverlaidTrial {
  id: number;
  name: string;
  summary: Readonly<Record<string, unknown>>;
}

/** More lines than this tell nobody anything. */
export const LINES = 50;

/** Metrics that any of them has: validation first, those that most have before the others. */
export function sharedMetrics(trials: readonly OverlaidTrial[]): Metric[] {
  const found = new Map<string, { metric: Metric; n: number }>();
  for (const trial of trials) {
    for (const metric of metricsOf({ ...trial.summary })) {
      const entry = found.get(keyOf(metric)) ?? { metric, n: 0 };
      entry.n += 1;
      found.set(keyOf(metric), entry);
    }
  }
  const rank = ({ metric, n }: { metric: Metric; n: number }) => (metric.group === "validation" ? 0 : 1) * 1e6 - n;
  return [...found.values()]
    .sort((a, b) => rank(a) - rank(b) || keyOf(a.metric).localeCompare(keyOf(b.metric)))
    .map((one) => one.metric);
}

export function cappedNote(drawn: number, total: number): string | undefined {
  return drawn < total ? `Showing ${drawn} of ${total} trials.` : undefined;
}
