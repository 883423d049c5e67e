// Keeps what a page shows up to date: events of /stream patch and refetch the cached answers they make old.
import type { Query } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { type Noun, onStreamStatus, type StreamEvent, type StreamSpec, streamStatus, subscribe } from "../stream";
import { type Asked, patched, touches } from "../stream/touched";
import { queryClient } from "./useApi";

export type { StreamEvent, StreamSpec, StreamStatus } from "../stream";
export { useStreamStatus } from "../stream";

const PACE_MS = 250; // at most four times a second
/** Lines follow at once; what is beside them, when there is nothing but progress to tell, needs no more than this. */
const REST_MS = 2_000;
const SERIES_REST_MS = 400;
const SERIES = "compareTrials";
const POLL_MS = 10_000;
/** An answer that takes long is asked for a third of the time at most, however fast events come. */
const REST_FACTOR = 3;

/** While mounted: refreshes what the events touch, and tells each event to `onEvent`. */
export function useLive(spec: StreamSpec, onEvent?: (event: StreamEvent) => void): void {
  const told = useRef(onEvent);
  useEffect(() => {
    told.current = onEvent;
  });
  const key = JSON.stringify(spec);
  useEffect(() => {
    const wanted = JSON.parse(key) as StreamSpec;
    // what was read while nobody listened may have changed since; what is being read now will be new
    refreshAll(wanted, (query) => query.state.data !== undefined && query.state.fetchStatus !== "fetching");
    const stopPolling = pollWhileCutOff(wanted);
    const stopHearing = subscribe(wanted, (event) => {
      refresh(event);
      told.current?.(event);
    });
    return () => {
      stopHearing();
      stopPolling();
    };
  }, [key]);
}

document.addEventListener("visibilitychange", () => schedule());

const dirty = new Map<string, Query>();
const restsUntil = new WeakMap<Query, number>();
let isScheduled = false;
let flushedAt = 0;

function refresh(event: StreamEvent, which: (query: Query) => boolean = () => true): void {
  for (const query of queryClient.getQueryCache().getAll()) {
    const [op, asked] = query.queryKey as [unknown, Asked | undefined];
    if (typeof op !== "string" || !touches(op, asked, event) || !which(query)) continue;
    const next = patched(op, query.state.data, event);
    // the time of the answer stays: it was not read again
    if (next !== undefined) queryClient.setQueryData(query.queryKey, next, { updatedAt: query.state.dataUpdatedAt });
    dirty.set(query.queryHash, query);
  }
  schedule();
}

function refreshAll(spec: StreamSpec, which?: (query: Query) => boolean): void {
  for (const noun of Object.keys(spec) as Noun[]) refresh({ noun, id: "*", seq: 0, reset: true }, which);
}

/** The first event of a while is followed at once, the others at the pace. */
function schedule(): void {
  if (isScheduled || dirty.size === 0 || document.hidden) return;
  isScheduled = true;
  const wait = Math.max(0, flushedAt + PACE_MS - performance.now());
  setTimeout(() => {
    isScheduled = false;
    flushedAt = performance.now();
    flush();
    schedule();
  }, wait);
}

/** An answer that is on its way may be older than the event: its query waits for the next turn instead of starting over. */
function flush(): void {
  if (document.hidden) return; // asked for when somebody looks again
  const now = performance.now();
  for (const [hash, query] of [...dirty]) {
    if (query.state.fetchStatus === "fetching" || now < (restsUntil.get(query) ?? 0)) continue;
    dirty.delete(hash);
    void queryClient.invalidateQueries({ queryKey: query.queryKey, exact: true }).then(() => {
      const took = performance.now() - now;
      const least = query.queryKey[0] === SERIES ? SERIES_REST_MS : REST_MS;
      restsUntil.set(query, now + Math.max(least, took * REST_FACTOR));
    });
  }
}

function pollWhileCutOff(spec: StreamSpec): () => void {
  let timer: ReturnType<typeof setInterval> | undefined;
  const follow = () => {
    const isCutOff = streamStatus() === "polling";
    if (isCutOff && timer === undefined) timer = setInterval(() => document.hidden || refreshAll(spec), POLL_MS);
    if (!isCutOff) stop();
  };
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const forget = onStreamStatus(follow);
  follow();
  return () => {
    forget();
    stop();
  };
}
