// Time series of the master as series of charts.

import type { Series } from "../chart/types";
import type { Metric } from "./metricNames";

export type XAxis = "batch" | "epoch" | "time" | "relative";

export const X_LABELS: Record<XAxis, string> = {
  batch: "batches",
  epoch: "epoch",
  time: "time",
  relative: "seconds since the first report",
};

/** One metric of one trial as columns; every number that JSON cannot hold is text. */
export interface WireSeries {
  name: string;
  group: string;
  x: readonly unknown[];
  last: readonly unknown[];
  min: readonly unknown[];
  max: readonly unknown[];
  /** How many points a bucket stands for, and how many of them are NaN or infinite (empty when none is). */
  count: readonly number[];
  notFinite: readonly number[];
  exact: boolean;
}

/** How far a group of metrics was read; `continues`: only what was new came. */
export interface WirePosition {
  group: string;
  token: string;
  continues: boolean;
}

export interface WireTrialSeries {
  trialId: number;
  metrics: readonly WireSeries[];
  positions: readonly WirePosition[];
}

/** The series of `metrics` in the order of the trials; `nameOf` says what a legend calls one. */
export function chartSeries(
  trials: readonly WireTrialSeries[],
  metrics: readonly Metric[],
  axis: XAxis,
  nameOf: (trialId: number, metric: Metric) => string,
): Series[] {
  const series: Series[] = [];
  for (const trial of trials) {
    for (const metric of metrics) {
      const found = trial.metrics.find((one) => one.name === metric.name && one.group === metric.group);
      if (found !== undefined && found.x.length > 0) {
        series.push(toSeries(trial.trialId, found, axis, nameOf(trial.trialId, metric)));
      }
    }
  }
  return series;
}

export function toSeries(trialId: number, wire: WireSeries, axis: XAxis, name: string): Series {
  const xs = wire.x.map((x) => numberOf(x) ?? 0);
  const series: Series = {
    id: `${trialId} ${wire.group}.${wire.name}`,
    name,
    trialId,
    x: axis === "relative" ? xs.map((x) => x - (xs[0] ?? 0)) : xs,
    y: wire.last.map(reported),
    exact: wire.exact,
  };
  if (wire.notFinite.length > 0) series.notFinite = [...wire.notFinite];
  if (wire.exact) return series;
  return { ...series, min: wire.min.map(numberOf), max: wire.max.map(numberOf) };
}

/** What JSON cannot hold travels as text; a chart leaves a gap there and counts it. */
function reported(value: unknown): number | null {
  return typeof value === "string" ? Number(value) : typeof value === "number" ? value : null;
}

/** Extremes and places are numbers or missing. */
export function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
