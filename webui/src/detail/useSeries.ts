// Time series of metrics, bucketed by the master and exact where a reader zooms in; refreshed as reports come in.

import { useApi } from "../api/useApi";
import type { Range } from "../chart/types";
import { keyOf, type Metric } from "./metricNames";
import type { WireTrialSeries, XAxis } from "./series";

const POINTS = 1500;

export interface SeriesAnswer {
  trials: readonly WireTrialSeries[];
  isPending: boolean;
  error: Error | null;
  refetch: () => void;
}

const NONE: readonly WireTrialSeries[] = [];

export function useSeries(trialIds: number[], metrics: Metric[], axis: XAxis, range: Range | null): SeriesAnswer {
  // relative time starts with the first report, which a range would leave out
  const zoom = range !== null && axis !== "relative" ? { start: range[0], end: range[1] } : {};
  const answer = useApi(
    "GET /api/v1/trials/time-series",
    {
      query: {
        trialIds,
        metricIds: metrics.map(keyOf),
        sampling: "bucket",
        maxDatapoints: POINTS,
        xAxis: axis === "relative" ? "time" : axis,
        ...zoom,
      },
    },
    { enabled: trialIds.length > 0 && metrics.length > 0, keepPrevious: true },
  );
  const trials = (answer.data as { trials: readonly WireTrialSeries[] } | undefined)?.trials ?? NONE;
  return { trials, isPending: answer.isPending, error: answer.error, refetch: () => void answer.refetch() };
}
