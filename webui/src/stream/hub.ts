// Many listeners on one connection: their wishes are merged, and each hears what it asked for.
import { Connection, type Surroundings } from "./connection";
import type { OnEvents, StreamEvent, StreamSpec, StreamStatus } from "./types";
import { takes, union, type Wanted, wantedOf } from "./wanted";

const GATHER_MS = 30; // a page mounts several listeners at once: one message for all of them

/** Where a tab's listeners are served: in the tab itself or in a worker that all tabs share. */
export interface Transport {
  add(spec: StreamSpec, onEvents: OnEvents): () => void;
  onStatus(listener: (status: StreamStatus) => void): void;
}

export class Hub implements Transport {
  #around: Surroundings;
  #connection: Connection;
  #listeners = new Map<number, { wanted: Wanted; onEvents: OnEvents }>();
  #next = 1;
  #gathering = false;
  #status: StreamStatus = "reconnecting";
  #statusListeners = new Set<(status: StreamStatus) => void>();

  constructor(around: Surroundings) {
    this.#around = around;
    this.#connection = new Connection(
      around,
      (events) => this.#dispatch(events),
      (status) => this.#tell(status),
    );
  }

  add(spec: StreamSpec, onEvents: OnEvents): () => void {
    const id = this.#next++;
    this.#listeners.set(id, { wanted: wantedOf(spec), onEvents });
    this.#gather();
    return () => {
      if (this.#listeners.delete(id)) this.#gather();
    };
  }

  /** Told at once how things stand, then at every change. */
  onStatus(listener: (status: StreamStatus) => void): () => void {
    this.#statusListeners.add(listener);
    listener(this.#status);
    return () => this.#statusListeners.delete(listener);
  }

  #gather(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    this.#around.later(GATHER_MS, () => {
      this.#gathering = false;
      this.#connection.want(union([...this.#listeners.values()].map((listener) => listener.wanted)));
    });
  }

  #dispatch(events: StreamEvent[]): void {
    for (const { wanted, onEvents } of [...this.#listeners.values()]) {
      const own = events.filter((event) => takes(wanted, event));
      if (own.length > 0) onEvents(own);
    }
  }

  #tell(status: StreamStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    for (const listener of this.#statusListeners) listener(status);
  }
}
