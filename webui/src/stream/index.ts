// Live data for pages: subscribe to nouns, and know whether the connection stands.
import { useSyncExternalStore } from "react";
import { browser, later } from "./browser";
import { Hub, type Transport } from "./hub";
import { type PortLike, PortTransport } from "./port";
import { Tab } from "./tab";
import type { StreamEvent, StreamSpec, StreamStatus } from "./types";

export type { Noun, StreamEvent, StreamSpec, StreamStatus } from "./types";

let tab: Tab | null = null;
let status: StreamStatus = "reconnecting";
const watchers = new Set<() => void>();

/** Hear of changes, in the order of commits, until the answered function is called. */
export function subscribe(spec: StreamSpec, onEvent: (event: StreamEvent) => void): () => void {
  tab ??= openTab();
  return tab.subscribe(spec, (events) => events.forEach(onEvent));
}

/** The master answers: connect now. */
export function retryStream(): void {
  tab?.retry();
}

/** The session is over: hold no connection. */
export function closeStream(): void {
  tab?.close();
}

export function streamStatus(): StreamStatus {
  return status;
}

export function onStreamStatus(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function useStreamStatus(): StreamStatus {
  return useSyncExternalStore(onStreamStatus, streamStatus);
}

function openTab(): Tab {
  const worker = sharedWorker();
  const shared = worker && new PortTransport(worker.port as PortLike);
  const opened = new Tab(heard(shared ?? new Hub(browser)), later);
  if (worker && shared) {
    holdLock(shared);
    worker.onerror = () => opened.move(heard(new Hub(browser)));
  }
  document.addEventListener("visibilitychange", () => (document.hidden ? opened.hidden() : opened.seen()));
  // a page in the back/forward cache is frozen: it would keep its subscriptions and hear nothing
  addEventListener("pagehide", () => {
    opened.pause();
    shared?.leave();
  });
  addEventListener("pageshow", (event) => event.persisted && opened.seen());
  return opened;
}

function heard(transport: Transport): Transport {
  transport.onStatus((next) => {
    status = next;
    for (const watcher of watchers) watcher();
  });
  return transport;
}

/** None where the browser has no shared workers (some phones) or does not allow them. */
function sharedWorker(): SharedWorker | null {
  if (typeof SharedWorker === "undefined") return null;
  try {
    return new SharedWorker(new URL("./worker.ts", import.meta.url), { type: "module", name: "stream" });
  } catch {
    return null;
  }
}

/** Browsers offer locks to secure contexts only; elsewhere a tab that crashed is heard for until the worker ends. */
function holdLock(transport: PortTransport): void {
  if (!navigator.locks) return;
  const lock = `stream-${crypto.randomUUID()}`;
  void navigator.locks.request(lock, () => {
    transport.holds(lock);
    return new Promise(() => undefined);
  });
}
