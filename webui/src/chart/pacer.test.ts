import { describe, expect, it } from "vitest";
import { Pacer } from "./pacer";

function handClock() {
  let now = 0;
  let waiting: { run: () => void; at: number }[] = [];
  return {
    now: () => now,
    later: (run: () => void, milliseconds: number) => {
      const entry = { run, at: now + milliseconds };
      waiting.push(entry);
      return () => {
        waiting = waiting.filter((other) => other !== entry);
      };
    },
    advance: (milliseconds: number) => {
      now += milliseconds;
      const due = waiting.filter((entry) => entry.at <= now);
      waiting = waiting.filter((entry) => entry.at > now);
      for (const { run } of due) run();
    },
  };
}

describe("pacer", () => {
  it("paints the first request at once", () => {
    let paints = 0;
    new Pacer(() => paints++, 250, handClock()).ask();
    expect(paints).toBe(1);
  });

  it("paints a flood at most 4 times a second, the last state included", () => {
    const clock = handClock();
    let state = 0;
    const painted: number[] = [];
    const pacer = new Pacer(() => painted.push(state), 250, clock);
    for (state = 1; state <= 100; state++) {
      pacer.ask();
      if (state < 100) clock.advance(10);
    }
    state = 100;
    clock.advance(250);
    expect(painted).toHaveLength(5);
    expect(painted.at(-1)).toBe(100);
  });

  it("paints nothing after it was stopped", () => {
    const clock = handClock();
    let paints = 0;
    const pacer = new Pacer(() => paints++, 250, clock);
    pacer.ask();
    pacer.ask();
    pacer.stop();
    clock.advance(1000);
    expect(paints).toBe(1);
  });
});
