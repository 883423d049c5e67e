// The rows of a table as they are needed, live: pages in sight are read, and read again when something happens to them.
import { useQueries } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { ApiError } from "../../api/client";
import { useLive } from "../../api/live";
import { queryClient } from "../../api/useApi";
import type { StreamEvent, StreamSpec } from "../../stream";
import { isLive } from "../../ui/state";
import { usePaced } from "../../ui/usePaced";
import { caughtUp, type LiveRows, noRows, received, rowAt, updatesIn } from "./liveRows";
import type { TableRow } from "./rowValues";
import { PAGE_ROWS, pageQuery, type Wanted } from "./source";

const REFRESH_MS = 1000;
const MOST_FOLLOWED = 100;
const SETTLE_MS = 200;

export interface TableRows {
  rows: LiveRows<TableRow> | null;
  rowAt: (index: number) => TableRow | undefined;
  onRange: (first: number, last: number) => void;
  /** First and last row in sight. */
  range: readonly [number, number];
  updates: number;
  catchUp: () => void;
  /** What the reader did himself is shown when the next answer comes, without being asked for. */
  catchUpSoon: () => void;
  /** What is shown answers an older question. */
  isOld: boolean;
  error: ApiError | null;
  refetch: () => void;
}

/** `wanted` null: the question is not clear yet, what was shown stays. */
export function useTableRows(wanted: Wanted | null): TableRows {
  const [range, onRange] = useSettledRange();
  const [rows, setRows] = useState<LiveRows<TableRow> | null>(null);
  const key = wanted === null ? null : JSON.stringify(wanted);
  const soon = useRef(0);
  const isKnown = rows !== null && rows.key === key;
  const pages = useMemo(() => pagesIn(range, isKnown), [range, isKnown]);
  const results = useQueries({ queries: wanted === null ? [] : pages.map((page) => pageQuery(wanted, page)) });
  const stamp = results.map((one) => one.dataUpdatedAt).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `stamp` says when an answer is new
  useEffect(() => {
    if (key === null) return;
    // an answer from before the act may still be on its way to this effect
    const isOwn = soon.current > 0 && results.every((one) => one.dataUpdatedAt > soon.current);
    if (isOwn) soon.current = 0;
    setRows((old) => {
      const next = results.reduce((now, { data }, i) => (data ? taken(now, key, pages[i] ?? 0, data) : now), old);
      return isOwn && next ? caughtUp(next) : next;
    });
  }, [stamp, key, pages]);
  const inSight = useRef<readonly (readonly unknown[])[]>([]);
  inSight.current = wanted === null ? [] : pages.map((page) => pageQuery(wanted, page).queryKey);
  const refetch = useCallback(() => {
    for (const queryKey of inSight.current) void queryClient.invalidateQueries({ queryKey, exact: true });
  }, []);
  useFollowed(rows, range, wanted, refetch);
  return {
    rows,
    rowAt: useCallback((index: number) => (rows === null ? undefined : rowAt(rows, index)), [rows]),
    onRange,
    range,
    updates: rows === null ? 0 : updatesIn(rows),
    catchUp: () => setRows((old) => old && caughtUp(old)),
    catchUpSoon: () => {
      soon.current = Date.now();
    },
    isOld: rows !== null && rows.key !== key,
    error: results.find((one) => one.error !== null)?.error ?? null,
    refetch,
  };
}

/** Told at once when another page comes into sight, else when scrolling rests: a table must not render with every row. */
function useSettledRange(): [readonly [number, number], (first: number, last: number) => void] {
  const [range, setRange] = useState<readonly [number, number]>([0, 30]);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const told = useRef(range);
  const onRange = useCallback((first: number, last: number) => {
    const next = [first, last] as const;
    if (timer.current !== null) clearTimeout(timer.current);
    const isSamePage = pagesIn(told.current, true).join() === pagesIn(next, true).join();
    const tell = () => {
      told.current = next;
      setRange(next);
    };
    if (isSamePage) timer.current = setTimeout(tell, SETTLE_MS);
    else tell();
  }, []);
  useEffect(() => () => void (timer.current !== null && clearTimeout(timer.current)), []);
  return [range, onRange];
}

/** The first pages of a new question; later those in sight. */
function pagesIn([first, last]: readonly [number, number], isKnown: boolean): number[] {
  if (!isKnown) return [0];
  const from = Math.floor(first / PAGE_ROWS);
  const to = Math.floor(last / PAGE_ROWS);
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

function taken(
  rows: LiveRows<TableRow> | null,
  key: string,
  page: number,
  data: { rows: TableRow[]; total: number },
): LiveRows<TableRow> {
  const base = rows?.key === key ? rows : noRows<TableRow>(key, data.total);
  return received(base, page * PAGE_ROWS, data.rows, data.total);
}

/** Hears of the experiments in sight, of new ones, and of metrics of trials that still run. */
function useFollowed(
  rows: LiveRows<TableRow> | null,
  range: readonly [number, number],
  wanted: Wanted | null,
  refetch: () => void,
): void {
  const spec = useMemo<StreamSpec>(() => specOf(rows, range), [rows, range]);
  const projectId = wanted?.projectId;
  const refresh = usePaced(refetch, REFRESH_MS);
  useLive(spec, (event) => {
    if (concerns(event, projectId)) refresh();
  });
}

function specOf(rows: LiveRows<TableRow> | null, [first, last]: readonly [number, number]): StreamSpec {
  const seen: TableRow[] = [];
  for (let i = first; rows !== null && i <= last && seen.length < MOST_FOLLOWED; i++) {
    const row = rowAt(rows, i);
    if (row) seen.push(row);
  }
  const experimentIds = [...new Set(seen.map((row) => row.experimentId))].sort((a, b) => a - b);
  const running = seen.filter((row) => isLive(row.state) && row.trialId !== null).map((row) => row.trialId as number);
  return {
    experiments: "all",
    ...(experimentIds.length > 0 ? { trials: { experimentIds } } : {}),
    ...(running.length > 0 ? { metrics: { trialIds: running.sort((a, b) => a - b) } } : {}),
  };
}

/** Experiments of other projects are told of too. */
function concerns(event: StreamEvent, projectId: number | undefined): boolean {
  const project = event.row?.["projectId"];
  return event.noun !== "experiments" || project === undefined || project === projectId;
}
