// What charts of one group share: the cursor's x and the series that a legend click isolated.

export interface Shared {
  cursor: number | null;
  solo: string | null;
}

type Listener = () => void;

export class SyncGroup {
  #shared: Shared = { cursor: null, solo: null };
  #listeners = new Set<Listener>();

  get = (): Shared => this.#shared;

  getSolo = (): string | null => this.#shared.solo;

  subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#leave(listener);
  };

  moveCursor(cursor: number | null): void {
    if (cursor !== this.#shared.cursor) this.#set({ ...this.#shared, cursor });
  }

  /** A second click on the isolated series brings all back. */
  toggleSolo(key: string): void {
    this.#set({ ...this.#shared, solo: this.#shared.solo === key ? null : key });
  }

  showAll(): void {
    if (this.#shared.solo !== null) this.#set({ ...this.#shared, solo: null });
  }

  /** The last chart to go takes the isolation with it: the next page starts with all series. */
  #leave(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.#shared = { cursor: null, solo: null };
  }

  #set(shared: Shared): void {
    this.#shared = shared;
    for (const listener of this.#listeners) listener();
  }
}

const groups = new Map<string, SyncGroup>();

/** The group of a key, one for all charts that name it. */
export function groupOf(key: string): SyncGroup {
  const known = groups.get(key);
  if (known !== undefined) return known;
  const group = new SyncGroup();
  groups.set(key, group);
  return group;
}
