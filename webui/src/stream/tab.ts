// A tab's listeners: served while the tab is seen, and for a minute after; a tab that comes back reads everything again.
import { resetOf } from "./frames";
import type { Transport } from "./hub";
import type { Noun, OnEvents, StreamSpec } from "./types";

export const HIDDEN_MS = 60_000;

interface Entry {
  spec: StreamSpec;
  onEvents: OnEvents;
  remove: (() => void) | null;
}

export class Tab {
  #transport: Transport;
  #later: (ms: number, run: () => void) => () => void;
  #entries = new Set<Entry>();
  #served = true;
  #stopWaiting: (() => void) | null = null;

  constructor(transport: Transport, later: (ms: number, run: () => void) => () => void) {
    this.#transport = transport;
    this.#later = later;
  }

  subscribe(spec: StreamSpec, onEvents: OnEvents): () => void {
    const entry: Entry = { spec, onEvents, remove: null };
    this.#entries.add(entry);
    if (this.#served) this.#serve(entry);
    return () => {
      this.#entries.delete(entry);
      entry.remove?.();
      entry.remove = null;
    };
  }

  /** From now on served by another transport: the one before does not work. */
  move(transport: Transport): void {
    this.#transport = transport;
    if (!this.#served) return;
    for (const entry of this.#entries) this.#serve(entry);
  }

  retry(): void {
    this.#transport.retry();
  }

  /** Of no tab anything is heard any more, until one subscribes. */
  close(): void {
    this.#transport.close();
  }

  hidden(): void {
    this.#stopWaiting ??= this.#later(HIDDEN_MS, () => this.pause());
  }

  seen(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = null;
    if (this.#served) return;
    this.#served = true;
    for (const entry of [...this.#entries]) {
      this.#serve(entry);
      entry.onEvents((Object.keys(entry.spec) as Noun[]).map((noun) => resetOf(noun, 0)));
    }
  }

  /** Nothing is heard any more until the tab is seen again. */
  pause(): void {
    this.#stopWaiting = null;
    this.#served = false;
    for (const entry of this.#entries) {
      entry.remove?.();
      entry.remove = null;
    }
  }

  #serve(entry: Entry): void {
    entry.remove = this.#transport.add(entry.spec, entry.onEvents);
  }
}
