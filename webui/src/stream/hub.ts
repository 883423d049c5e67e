// Many listeners on one connection: their wishes are merged, and each hears what it asked for.
import { Connection, type Surroundings } from "./connection";
import type { OnEvents, StreamEvent, StreamSpec, StreamStatus } from "./types";
import { takes, union, type Wanted, wantedOf } from "./wanted";

const GATHER_MS = 30; // a page mounts several listeners at once: one message for all of them

/** Where a tab's listeners are served: in the tab itself or in a worker that all tabs share. */
export interface Transport {
  add(spec: StreamSpec, onEvents: OnEvents): () => void;
  onStatus(listener: (status: StreamStatus) => void): void;
  /** Connect now rather than when the wait is over. */
  retry(): void;
  /** The session is over: no connection, for no tab, until a tab listens anew. */
  close(): void;
}

export class Hub implements Transport {
  #around: Surroundings;
  #connection: Connection;
  #listeners = new Map<number, { wanted: Wanted; onEvents: OnEvents }>();
  #next = 1;
  #gathering = false;
  #isClosed = false;
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
    this.#isClosed = false;
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

  retry(): void {
    if (!this.#isClosed) this.#connection.retry();
  }

  close(): void {
    this.#isClosed = true;
    this.#connection.close();
    this.#tell("reconnecting");
  }

  #gather(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    this.#around.later(GATHER_MS, () => {
      this.#gathering = false;
      if (this.#isClosed) return;
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
