// State that lives in the address, so that a copied address shows the same view.
import { useCallback, useMemo } from "react";
import { useLocationProperty } from "wouter/use-browser-location";
import type { Codec } from "./codecs";
import { withParam } from "./search";

export type History = "push" | "replace";

/** Like useState, kept under `name` in the query string and left out of it when equal to `fallback`. */
export function useUrlState<T>(name: string, codec: Codec<T>, fallback: T): [T, (next: T, how?: History) => void] {
  const raw = useLocationProperty(() => paramOf(name));
  const absent = codec.print(fallback);
  // the printed fallback stands for the fallback: callers may pass a fresh array each time
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const value = useMemo(() => (raw === null ? fallback : (codec.parse(raw) ?? fallback)), [raw, absent, codec]);
  const set = useCallback(
    (next: T, how: History = "replace") => {
      const printed = codec.print(next);
      schedule(name, printed === absent ? undefined : printed, how);
    },
    [name, codec, absent],
  );
  return [value, set];
}

const pending = new Map<string, string | undefined>();
let how: History = "replace";
let scheduledOn = "";

/** Several updates in one tick become one history entry; one push among them makes it a push. */
function schedule(name: string, value: string | undefined, wanted: History): void {
  if (pending.size === 0) {
    how = "replace";
    scheduledOn = window.location.pathname;
    queueMicrotask(flush);
  }
  pending.set(name, value);
  if (wanted === "push") how = "push";
}

function flush(): void {
  const updates = [...pending];
  pending.clear();
  // a navigation in the same tick wins: the parameters belong to the page that was left
  if (scheduledOn !== window.location.pathname) return;
  const search = updates.reduce((text, [name, value]) => withParam(text, name, value), window.location.search);
  if (search === window.location.search) return;
  const address = window.location.pathname + search + window.location.hash;
  // wouter patches both calls to raise events, which is what wakes useLocationProperty
  window.history[how === "push" ? "pushState" : "replaceState"](window.history.state, "", address);
}

function paramOf(name: string): string | null {
  return new URLSearchParams(window.location.search).get(name);
}
