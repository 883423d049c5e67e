// Time series of metrics, bucketed by the master and exact where a reader zooms in; what was read stays, only new points are
// asked for as reports come in.

import { useQuery } from "@tanstack/react-query";
import { type ApiError, requestOf } from "../api/client";
import { queryClient, keyOf as queryKeyOf, withoutTransientError } from "../api/useApi";
import type { Range } from "../chart/types";
import { joined, sinceOf } from "./growing";
import { keyOf, type Metric } from "./metricNames";
import type { WireTrialSeries, XAxis } from "./series";
import { type SeriesAsk, seriesLoader } from "./seriesLoader";

const POINTS = 1500;
/** Everything is read anew from time to time: a value that was added to an old step shows then. */
const WHOLE_MS = 5 * 60_000;

export interface SeriesAnswer {
  trials: readonly WireTrialSeries[];
  isPending: boolean;
  error: Error | null;
  refetch: () => void;
}

interface Held {
  trials: readonly WireTrialSeries[];
  wholeAt: number;
}

const NONE: readonly WireTrialSeries[] = [];

export function useSeries(trialIds: number[], metrics: Metric[], axis: XAxis, range: Range | null): SeriesAnswer {
  // relative time starts with the first report, which a range would leave out
  const zoom = range !== null && axis !== "relative" ? { start: range[0], end: range[1] } : {};
  const query = {
    trialIds,
    metricIds: metrics.map(keyOf),
    maxDatapoints: POINTS,
    xAxis: axis === "relative" ? ("time" as const) : axis,
    ...zoom,
  };
  const queryKey = queryKeyOf("compareTrials", { query: { ...query, sampling: "bucket" } });
  const found = useQuery<Held, ApiError>({
    queryKey,
    queryFn: ({ signal }) => read(query, queryClient.getQueryData<Held>(queryKey), signal),
    enabled: trialIds.length > 0 && metrics.length > 0,
    // while another range is read the lines at hand stay; those of other trials or metrics would be a lie
    placeholderData: (before, last) => (isSameLines(last?.queryKey, queryKey) ? before : undefined),
    structuralSharing: false,
  });
  const answer = withoutTransientError(found);
  return {
    trials: answer.data?.trials ?? NONE,
    isPending: answer.isPending,
    error: answer.error,
    refetch: () => void found.refetch(),
  };
}

/** Every point of these series, as the master writes it. */
export function allPointsUrl(trialIds: number[], metrics: Metric[]): string {
  return requestOf("downloadMetrics", { query: { trialIds, metricIds: metrics.map(keyOf) } }).url;
}

async function read(query: Omit<SeriesAsk, "since">, held: Held | undefined, signal: AbortSignal): Promise<Held> {
  if (held !== undefined && Date.now() - held.wholeAt < WHOLE_MS) {
    const fresh = await seriesLoader.load({ ...query, since: sinceOf(held.trials) }, signal);
    const trials = joined(held.trials, fresh, query.maxDatapoints);
    if (trials === held.trials) return held;
    if (trials !== null) return { trials, wholeAt: held.wholeAt };
  }
  return { trials: await seriesLoader.load({ ...query, since: [] }, signal), wholeAt: Date.now() };
}

function isSameLines(a: readonly unknown[] | undefined, b: readonly unknown[]): boolean {
  const lines = (key: readonly unknown[]) => {
    const { query } = key[1] as { query: { trialIds: unknown; metricIds: unknown; xAxis: unknown } };
    return JSON.stringify([query.trialIds, query.metricIds, query.xAxis]);
  };
  return a !== undefined && lines(a) === lines(b);
}
