import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LogFeed, type LogReader, PAGE } from "./feed";
import type { LogLine } from "./line";

const line = (id: number): LogLine => ({ id, level: null, text: `line ${id}`, printed: "", time: "", rank: null });
const range = (from: number, to: number): LogLine[] => Array.from({ length: to - from }, (_, i) => line(from + i));

/** A log of lines 1..size; what `later` holds arrives while it is followed, and an Error breaks the connection. */
class FakeLog implements LogReader {
  followed: (number | null)[] = [];
  private readonly size: number;
  private readonly later: (LogLine | Error)[];
  private readonly ends: boolean;

  constructor(size: number, later: (LogLine | Error)[] = [], ends = false) {
    this.size = size;
    this.later = later;
    this.ends = ends;
  }

  async page(place: { before?: number; after?: number }, limit: number): Promise<LogLine[]> {
    if (place.after !== undefined) return range(place.after + 1, Math.min(this.size, place.after + limit) + 1);
    const end = place.before ?? this.size + 1;
    return range(Math.max(1, end - limit), end);
  }

  async *follow(after: number | null, signal: AbortSignal): AsyncGenerator<LogLine> {
    this.followed.push(after);
    for (let next = this.later.shift(); next !== undefined; next = this.later.shift()) {
      if (next instanceof Error) throw next;
      yield next;
    }
    if (!this.ends) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  }
}

const ids = (feed: LogFeed): [number | undefined, number | undefined] => [
  feed.snapshot().lines[0]?.id,
  feed.snapshot().lines.at(-1)?.id,
];

describe("LogFeed", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("opens at the end and goes back page by page to the start", async () => {
    const feed = new LogFeed(new FakeLog(1100));
    await feed.open(null);
    expect(ids(feed)).toEqual([601, 1100]);
    await feed.earlier();
    expect(ids(feed)).toEqual([101, 1100]);
    expect(feed.snapshot()).toMatchObject({ atStart: false, prepended: PAGE });
    await feed.earlier();
    expect(ids(feed)).toEqual([1, 1100]);
    expect(feed.snapshot().atStart).toBe(true);
    feed.close();
  });

  it("opens around a line and reads on to the end", async () => {
    const feed = new LogFeed(new FakeLog(2000));
    await feed.open(1000);
    expect(ids(feed)).toEqual([501, 1500]);
    expect(feed.snapshot().atEnd).toBe(false);
    await feed.later();
    await feed.later();
    expect(ids(feed)).toEqual([501, 2000]);
    expect(feed.snapshot().atEnd).toBe(true);
    feed.close();
  });

  it("adds what comes while it is followed, and reads on after a break without loss", async () => {
    const log = new FakeLog(3, [line(4), line(5), new Error("gone"), line(6)], true);
    const feed = new LogFeed(log);
    await feed.open(null);
    await vi.advanceTimersByTimeAsync(3000);
    expect(feed.snapshot().lines.map((l) => l.id)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(log.followed).toEqual([3, 5]);
    expect(feed.snapshot().isOver).toBe(true);
  });

  it("lets the oldest lines go while its reader sits at the end, and stops following when not", async () => {
    for (const sticks of [true, false]) {
      const feed = new LogFeed(new FakeLog(500, range(501, 701)), 600);
      feed.sticks = sticks;
      await feed.open(null);
      await vi.advanceTimersByTimeAsync(1000);
      expect(feed.snapshot().lines.length).toBe(600);
      expect(ids(feed)[0]).toBe(sticks ? 101 : 1);
      expect(feed.snapshot().atEnd).toBe(sticks);
      feed.close();
    }
  });

  it("holds no connection while it rests, and goes on when it wakes", async () => {
    const log = new FakeLog(2);
    const feed = new LogFeed(log);
    await feed.open(null);
    feed.rest();
    feed.wake();
    expect(log.followed).toEqual([2, 2]);
    feed.close();
  });

  it("asks no more for a log that is gone", async () => {
    const log = new FakeLog(2, [Object.assign(new Error("no such trial"), { status: 404 }), line(3)]);
    const feed = new LogFeed(log);
    await feed.open(null);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(log.followed).toEqual([2]);
    expect(feed.snapshot()).toMatchObject({ status: "failed", error: new Error("no such trial") });
    feed.close();
  });

  it("says what went wrong", async () => {
    const broken: LogReader = {
      page: () => Promise.reject(new Error("not found")),
      follow: async function* () {},
    };
    const feed = new LogFeed(broken);
    await feed.open(null);
    expect(feed.snapshot()).toMatchObject({ status: "failed", error: new Error("not found") });
  });
});
