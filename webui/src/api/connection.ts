// Whether the master answers, as a tiny store: the banner reads it, the client and the browser write it.
import { useSyncExternalStore } from "react";

/** `offline`: this browser has no network; `lost`: it has, and the master does not answer. */
export type Reach = "ok" | "lost" | "offline";

let reach: Reach = "ok";
const listeners = new Set<() => void>();

export function reachable(): void {
  set("ok");
}

export function unreachable(): void {
  set(isOffline() ? "offline" : "lost");
}

export function currentReach(): Reach {
  return reach;
}

export function useReach(): Reach {
  return useSyncExternalStore(onReach, currentReach);
}

export function onReach(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: Reach): void {
  if (reach === next) return;
  reach = next;
  for (const listener of [...listeners]) listener();
}

function isOffline(): boolean {
  return typeof navigator !== "undefined" && navigator.onLine === false;
}
