// How a tab and the shared worker talk: subscriptions one way, events and status the other.
import type { Hub, Transport } from "./hub";
import type { OnEvents, StreamEvent, StreamSpec, StreamStatus } from "./types";

export type ToWorker =
  | { kind: "add"; id: number; spec: StreamSpec }
  | { kind: "remove"; id: number }
  | { kind: "leave" }
  | { kind: "retry" }
  | { kind: "close" }
  | { kind: "holds"; lock: string };
export type ToTab = { kind: "events"; id: number; events: StreamEvent[] } | { kind: "status"; status: StreamStatus };

export interface PortLike {
  postMessage(message: unknown): void;
  onmessage: ((event: { data: unknown }) => void) | null;
}

/** The worker's side of one tab. `whenGone` calls back once the tab that holds a lock has died. */
export function serve(port: PortLike, hub: Hub, whenGone: (lock: string, then: () => void) => void): void {
  const removes = new Map<number, () => void>();
  const post = (message: ToTab) => port.postMessage(message);
  const quit = hub.onStatus((status) => post({ kind: "status", status }));
  const clear = () => {
    for (const remove of removes.values()) remove();
    removes.clear();
  };
  port.onmessage = ({ data }) => {
    const message = data as ToWorker;
    if (message.kind === "add") {
      removes.get(message.id)?.();
      removes.set(
        message.id,
        hub.add(message.spec, (events) => post({ kind: "events", id: message.id, events })),
      );
    } else if (message.kind === "remove") {
      removes.get(message.id)?.();
      removes.delete(message.id);
    } else if (message.kind === "leave") clear();
    else if (message.kind === "retry") hub.retry();
    else if (message.kind === "close") hub.close();
    else
      whenGone(message.lock, () => {
        clear();
        quit();
      });
  };
}

/** The tab's side. */
export class PortTransport implements Transport {
  #port: PortLike;
  #listeners = new Map<number, OnEvents>();
  #next = 1;
  #onStatus: (status: StreamStatus) => void = () => undefined;

  constructor(port: PortLike) {
    this.#port = port;
    port.onmessage = ({ data }) => {
      const message = data as ToTab;
      if (message.kind === "status") this.#onStatus(message.status);
      else this.#listeners.get(message.id)?.(message.events);
    };
  }

  add(spec: StreamSpec, onEvents: OnEvents): () => void {
    const id = this.#next++;
    this.#listeners.set(id, onEvents);
    this.#post({ kind: "add", id, spec });
    return () => {
      if (this.#listeners.delete(id)) this.#post({ kind: "remove", id });
    };
  }

  onStatus(listener: (status: StreamStatus) => void): void {
    this.#onStatus = listener;
  }

  retry(): void {
    this.#post({ kind: "retry" });
  }

  close(): void {
    this.#post({ kind: "close" });
  }

  /** Everything this tab asked for is forgotten; it is about to be put away. */
  leave(): void {
    this.#listeners.clear();
    this.#post({ kind: "leave" });
  }

  holds(lock: string): void {
    this.#post({ kind: "holds", lock });
  }

  #post(message: ToWorker): void {
    this.#port.postMessage(message);
  }
}
