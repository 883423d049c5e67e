import { describe, expect, it } from "vitest";
import { cursorAfter, rangeAfter } from "./keyboard";
import { linesOf } from "./lines";
import { scaleOf } from "./scale";

const steps = Array.from({ length: 30 }, (_, i) => i * 10);
const lines = linesOf([{ id: "a", name: "a", x: steps, y: steps }], 0);
const x = scaleOf("linear", 0, 290);

describe("the cursor by keyboard", () => {
  it("starts at the end that the arrow comes from", () => {
    expect(cursorAfter("ArrowRight", lines, x, null)).toBe(0);
    expect(cursorAfter("ArrowLeft", lines, x, null)).toBe(290);
  });

  it("goes point by point, by ten, and to the ends", () => {
    expect(cursorAfter("ArrowRight", lines, x, 40)).toBe(50);
    expect(cursorAfter("PageDown", lines, x, 40)).toBe(140);
    expect(cursorAfter("PageUp", lines, x, 40)).toBe(0);
    expect(cursorAfter("Home", lines, x, 40)).toBe(0);
    expect(cursorAfter("End", lines, x, 40)).toBe(290);
  });

  it("stays inside the zoomed part", () => {
    const part = scaleOf("linear", 95, 125);
    expect(cursorAfter("Home", lines, part, null)).toBe(100);
    expect(cursorAfter("ArrowRight", lines, part, 120)).toBe(120);
  });

  it("goes away with Escape and leaves other keys alone", () => {
    expect(cursorAfter("Escape", lines, x, 40)).toBeNull();
    expect(cursorAfter("a", lines, x, 40)).toBeUndefined();
  });
});

describe("zoom by keyboard", () => {
  it("halves and doubles what is seen around the cursor", () => {
    const scale = scaleOf("linear", 0, 100);
    expect(rangeAfter("+", scale, 50)).toEqual([25, 75]);
    expect(rangeAfter("+", scale, 0)).toEqual([0, 50]);
    expect(rangeAfter("-", scale, null)).toEqual([-50, 150]);
    expect(rangeAfter("0", scale, 20)).toBeNull();
    expect(rangeAfter("x", scale, 20)).toBeUndefined();
  });

  it("zooms a log axis in its own space", () => {
    const [lo, hi] = rangeAfter("+", scaleOf("log", 1, 10_000), 100) ?? [0, 0];
    expect(lo).toBeCloseTo(10);
    expect(hi).toBeCloseTo(1000);
  });
});
