import { describe, expect, it } from "vitest";
import { scaleOf } from "./scale";
import { ticksOf, wordOf } from "./ticks";

const labels = (...args: Parameters<typeof ticksOf>) => ticksOf(...args).map((tick) => tick.label);

describe("number ticks", () => {
  it("are round and inside the scale", () => {
    expect(labels(scaleOf("linear", 0, 1), 5)).toEqual(["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    expect(labels(scaleOf("linear", 0.13, 0.38), 3)).toEqual(["0.2", "0.3"]);
  });

  it("are two or more, since one alone gives no scale", () => {
    expect(labels(scaleOf("linear", 0.004, 0.943), 2)).toEqual(["0.2", "0.4", "0.6", "0.8"]);
    for (const lo of [0.004, 0.61, 3.99, 12.3, 99.1]) {
      for (const length of [0.013, 0.21, 0.9, 4.1, 10]) {
        expect(labels(scaleOf("linear", lo, lo + length), 1).length).toBeGreaterThan(1);
      }
    }
  });

  it("write thousands shortly and never twice the same label", () => {
    expect(labels(scaleOf("linear", 0, 1_000_000), 4)).toEqual(["0", "500k", "1M"]);
    const close = labels(scaleOf("linear", 100_000, 100_010), 5);
    expect(new Set(close).size).toBe(close.length);
  });

  it("exist for huge and for tiny extents", () => {
    expect(labels(scaleOf("linear", 0, 3e20), 4).length).toBeGreaterThan(1);
    expect(labels(scaleOf("linear", 0, 3e-12), 4).length).toBeGreaterThan(1);
    expect(labels(scaleOf("linear", -5, 5), 4)).toContain("0");
  });
});

describe("log ticks", () => {
  it("are decades over many decades", () => {
    expect(labels(scaleOf("log", 1e-6, 1), 4)).toEqual(["1e-6", "1e-4", "0.01", "1"]);
  });

  it("add 2 and 5 over few decades", () => {
    expect(labels(scaleOf("log", 1, 10), 6)).toEqual(["1", "2", "5", "10"]);
  });

  it("fall back to plain numbers inside one decade", () => {
    expect(labels(scaleOf("log", 2.1, 2.9), 4).length).toBeGreaterThan(1);
  });
});

describe("clock ticks", () => {
  it("write durations in their two largest units", () => {
    expect(labels(scaleOf("linear", 0, 7200), 4, "duration")).toEqual(["0s", "30m", "1h", "1h 30m", "2h"]);
    expect(labels(scaleOf("linear", 0, 0.9), 3, "duration")).toEqual(["0.0s", "0.5s"]);
  });

  it("put times on whole local minutes", () => {
    const ticks = ticksOf(scaleOf("linear", 1_700_000_007, 1_700_003_600), 4, "time");
    expect(ticks.length).toBeGreaterThan(2);
    for (const tick of ticks) expect(tick.value % 60).toBe(0);
  });
});

describe("words", () => {
  it("follow the kind of the axis", () => {
    expect(wordOf(0.123456789, "number")).toBe("0.123457");
    expect(wordOf(90, "duration")).toBe("1m 30s");
    expect(wordOf(1_700_000_000, "time")).toContain("2023");
  });
});
