// Whether the master answers, as a tiny store: the banner reads it, the client writes it.
import { useSyncExternalStore } from "react";

let lost = false;
const listeners = new Set<() => void>();

export function reachable(): void {
  set(false);
}

export function unreachable(): void {
  set(true);
}

export function useConnectionLost(): boolean {
  return useSyncExternalStore(subscribe, () => lost);
}

function set(next: boolean): void {
  if (lost === next) return;
  lost = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
