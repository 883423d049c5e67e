// The searcher's metric of the trials in sight as a few points each, for the little charts of the table.
import { useQueries } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { call } from "../../api/client";
import { keyOf } from "../../api/useApi";
import type { WireTrialSeries } from "../../detail/series";
import { numberOf } from "../../detail/series";
import type { TableRow } from "./rowValues";

const POINTS = 40;
const TRIALS_A_TURN = 50;

export type TrendOf = (row: TableRow) => readonly (number | null)[] | undefined;

export function useTrends(
  isShown: boolean,
  range: readonly [number, number],
  rowAt: (index: number) => TableRow | undefined,
): TrendOf {
  const asked = useMemo(() => (isShown ? turns(range, rowAt) : []), [isShown, range, rowAt]);
  const results = useQueries({ queries: asked.map(turnQuery) });
  const stamp = results.map((one) => one.dataUpdatedAt).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `stamp` says when an answer is new
  const found = useMemo(() => {
    const byTrial = new Map<number, readonly (number | null)[]>();
    for (const { data } of results)
      for (const trial of data ?? []) byTrial.set(trial.trialId, (trial.metrics[0]?.last ?? []).map(numberOf));
    return byTrial;
  }, [stamp]);
  return useCallback((row: TableRow) => (row.trialId === null ? undefined : found.get(row.trialId)), [found]);
}

interface Turn {
  metric: string;
  trialIds: number[];
}

/** Trials in sight by their metric, in blocks of places so that scrolling on asks only for what is new. */
function turns([first, last]: readonly [number, number], rowAt: (index: number) => TableRow | undefined): Turn[] {
  const byBlock = new Map<string, Turn>();
  const from = Math.floor(first / TRIALS_A_TURN) * TRIALS_A_TURN;
  const to = Math.ceil((last + 1) / TRIALS_A_TURN) * TRIALS_A_TURN;
  for (let index = from; index < to; index++) {
    const row = rowAt(index);
    if (row === undefined || row.trialId === null || row.searcherMetric === "") continue;
    const key = `${Math.floor(index / TRIALS_A_TURN)} ${row.searcherMetric}`;
    const turn = byBlock.get(key) ?? { metric: row.searcherMetric, trialIds: [] };
    turn.trialIds.push(row.trialId);
    byBlock.set(key, turn);
  }
  return [...byBlock.values()];
}

function turnQuery({ metric, trialIds }: Turn) {
  const query = { trialIds, metricIds: [`validation.${metric}`], sampling: "bucket" as const, maxDatapoints: POINTS };
  return {
    queryKey: keyOf("compareTrials", { query }),
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<readonly WireTrialSeries[]> => {
      const answer = await call("compareTrials", { query }, signal);
      return (answer as unknown as { trials: readonly WireTrialSeries[] }).trials;
    },
    staleTime: 15_000,
  };
}
