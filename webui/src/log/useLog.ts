// The window of a log as React state: opened anew when source or filters change, at rest while nobody looks.

import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { errorText } from "../ui/errorText";
import { LogFeed, type LogWindow } from "./feed";
import type { LogFilters } from "./filters";
import { fieldsOf, hitsOf, type LogFields, type LogSource, readerOf } from "./source";

const REST_AFTER_MS = 60_000;
const TYPING_MS = 250;

export function useLog(source: LogSource, filters: LogFilters, at: number | null): { feed: LogFeed; view: LogWindow } {
  const key = JSON.stringify([source, filters]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for both objects
  const feed = useMemo(() => new LogFeed(readerOf(source, filters)), [key]);
  const view = useSyncExternalStore(feed.subscribe, feed.snapshot);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a later address is gone to by the view, not by opening again
  useEffect(() => {
    void feed.open(at);
    return () => feed.close();
  }, [feed]);
  useRest(feed);
  return { feed, view };
}

export function useFields(source: LogSource): LogFields {
  const [fields, setFields] = useState<LogFields>({});
  const key = JSON.stringify(source);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the source
  useEffect(() => {
    const ends = new AbortController();
    // without fields there are no choices to offer; the log itself says what is wrong
    fieldsOf(source, ends.signal).then(setFields, () => setFields({}));
    return () => ends.abort();
  }, [key]);
  return fields;
}

export interface Hits {
  ids: number[];
  isAll: boolean;
  error: string | null;
  /** The first answer is on its way. */
  isPending: boolean;
}

const NO_HITS: Hits = { ids: [], isAll: true, error: null, isPending: false };

/** The lines that hold what is looked for, in the whole log; asked again as the log grows and the text changes. */
export function useHits(source: LogSource, filters: LogFilters, text: string, isRegex: boolean, upTo: number): Hits {
  const [hits, setHits] = useState(NO_HITS);
  const key = JSON.stringify([source, filters, text, isRegex, upTo]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for all of them
  useEffect(() => {
    const ends = new AbortController();
    if (text === "") setHits(NO_HITS);
    // the log has grown, or something else is looked for: until the answer comes the old number stands, or none
    else setHits((before) => (before === NO_HITS ? { ...NO_HITS, isPending: true } : before));
    const ask = (): void => {
      hitsOf(source, filters, { text, isRegex }, ends.signal).then(
        (found) => setHits({ ...found, error: null, isPending: false }),
        (error: unknown) => !ends.signal.aborted && setHits({ ...NO_HITS, error: errorText(error) }),
      );
    };
    const timer = text === "" ? undefined : setTimeout(ask, TYPING_MS);
    return () => {
      clearTimeout(timer);
      ends.abort();
    };
  }, [key]);
  return hits;
}

function useRest(feed: LogFeed): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const change = (): void => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => feed.rest(), REST_AFTER_MS);
      else feed.wake();
    };
    document.addEventListener("visibilitychange", change);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", change);
    };
  }, [feed]);
}
