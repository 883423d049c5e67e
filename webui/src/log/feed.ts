// The window of a log that is held in memory: opened at the end or at a line, grown at both ends, followed at the end.

import type { LogLine } from "./line";

export interface LogReader {
  /** Lines next to a known one, oldest first; without either end the newest. */
  page(place: { before?: number; after?: number }, limit: number, signal: AbortSignal): Promise<LogLine[]>;
  /** Lines after the known one as they come; ends when no more can come. */
  follow(after: number | null, signal: AbortSignal): AsyncIterable<LogLine>;
}

export interface LogWindow {
  lines: readonly LogLine[];
  status: "loading" | "ready" | "failed";
  error: unknown;
  atStart: boolean;
  atEnd: boolean;
  /** Nothing more is to come. */
  isOver: boolean;
  /** How often the window was opened anew; a reader goes to its place then. */
  opened: number;
  /** Lines put in front with the latest change, so that a view can hold its place. */
  prepended: number;
}

const EMPTY: LogWindow = {
  lines: [],
  status: "loading",
  error: null,
  atStart: false,
  atEnd: false,
  isOver: false,
  opened: 0,
  prepended: 0,
};

export const PAGE = 500;
const MOST = 20_000;
const FLUSH_MS = 150;
const RETRY_MS = 2000;

export class LogFeed {
  /** A reader who sits at the end: the oldest lines may go. Otherwise following stops before lines move. */
  sticks = true;

  private state: LogWindow = EMPTY;
  private readonly listeners = new Set<() => void>();
  private work = new AbortController();
  private following: AbortController | null = null;
  private busy = false;
  private pending: LogLine[] = [];
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly reader: LogReader;
  private readonly most: number;

  constructor(reader: LogReader, most = MOST) {
    this.reader = reader;
    this.most = most;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): LogWindow => this.state;

  /** Start at a line, with what stands around it, or at the end. */
  async open(at: number | null): Promise<void> {
    this.close();
    this.work = new AbortController();
    const { signal } = this.work;
    this.set({ ...EMPTY, opened: this.state.opened });
    await this.guard(async () => {
      const before = await this.reader.page(at === null ? {} : { before: at + 1 }, PAGE, signal);
      const after = at === null ? [] : await this.reader.page({ after: at }, PAGE, signal);
      if (signal.aborted) return;
      const atEnd = at === null || after.length < PAGE;
      const opened = this.state.opened + 1;
      const atStart = before.length < PAGE;
      this.set({ ...EMPTY, lines: [...before, ...after], status: "ready", atStart, atEnd, opened });
      if (atEnd) this.follow();
    });
  }

  async earlier(): Promise<void> {
    const first = this.state.lines[0];
    if (first === undefined || this.state.atStart || this.busy) return;
    const { signal } = this.work;
    await this.guard(async () => {
      const more = await this.reader.page({ before: first.id }, PAGE, signal);
      if (signal.aborted || this.state.lines[0] !== first) return;
      const lines = [...more, ...this.state.lines];
      const atStart = more.length < PAGE;
      if (lines.length > this.most) this.unfollow();
      const atEnd = this.state.atEnd && lines.length <= this.most;
      this.set({ ...this.state, lines: lines.slice(0, this.most), atStart, atEnd, prepended: more.length });
    });
  }

  async later(): Promise<void> {
    const last = this.state.lines.at(-1);
    if (last === undefined || this.state.atEnd || this.busy) return;
    const { signal } = this.work;
    await this.guard(async () => {
      const more = await this.reader.page({ after: last.id }, PAGE, signal);
      if (signal.aborted) return;
      this.append(more, more.length < PAGE);
      if (more.length < PAGE) this.follow();
    });
  }

  /** Stop everything; `open` starts again. */
  close(): void {
    this.work.abort();
    this.busy = false;
    this.unfollow();
  }

  /** A page that nobody looks at holds no connection. */
  rest(): void {
    this.unfollow();
  }

  wake(): void {
    if (this.state.status === "ready" && this.state.atEnd && !this.state.isOver) this.follow();
  }

  private follow(): void {
    if (this.following !== null) return;
    const following = new AbortController();
    this.following = following;
    void this.read(following.signal);
  }

  private unfollow(): void {
    this.following?.abort();
    this.following = null;
    this.flush();
  }

  private async read(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const last = this.pending.at(-1) ?? this.state.lines.at(-1);
        for await (const line of this.reader.follow(last?.id ?? null, signal)) this.take(line);
        if (signal.aborted) return;
        this.flush();
        this.set({ ...this.state, isOver: true, prepended: 0 });
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (isFinal(error)) return this.set({ ...this.state, status: "failed", error, prepended: 0 });
        // the master is away or restarts: what comes later is read on from the last line
        await pause(RETRY_MS, signal);
      }
    }
  }

  private take(line: LogLine): void {
    this.pending.push(line);
    this.timer ??= setTimeout(() => this.flush(), FLUSH_MS);
  }

  private flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    const fresh = this.pending;
    this.pending = [];
    if (fresh.length > 0) this.append(fresh, true);
  }

  private append(more: readonly LogLine[], atEnd: boolean): void {
    const lines = [...this.state.lines, ...more];
    const surplus = lines.length - this.most;
    if (surplus <= 0) {
      this.set({ ...this.state, lines, atEnd, prepended: 0 });
    } else if (this.sticks || !atEnd) {
      this.set({ ...this.state, lines: lines.slice(surplus), atEnd, atStart: false, prepended: -surplus });
    } else {
      this.set({ ...this.state, lines: lines.slice(0, this.most), atEnd: false, prepended: 0 });
      this.unfollow();
    }
  }

  private async guard(step: () => Promise<void>): Promise<void> {
    const work = this.work;
    this.busy = true;
    try {
      await step();
    } catch (error) {
      if (!work.signal.aborted) this.set({ ...this.state, status: "failed", error });
    } finally {
      if (work === this.work) this.busy = false;
    }
  }

  private set(next: LogWindow): void {
    this.state = next;
    for (const listener of this.listeners) listener();
  }
}

/** What asking again would not change: the log is gone, or is no longer ours to read. */
function isFinal(error: unknown): boolean {
  const status = (error as { status?: unknown }).status;
  return typeof status === "number" && status >= 400 && status < 500 && status !== 408 && status !== 429;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
