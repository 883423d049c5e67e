import { describe, expect, it } from "vitest";
import { scaleOf, toUnit, toValue } from "./scale";

describe("scales", () => {
  it("place the ends of a linear extent at 0 and 1 and come back", () => {
    const scale = scaleOf("linear", -2, 6);
    expect(toUnit(scale, -2)).toBe(0);
    expect(toUnit(scale, 6)).toBe(1);
    expect(toValue(scale, 0.5)).toBe(2);
  });

  it("place a decade in the middle of two on a log scale", () => {
    const scale = scaleOf("log", 1e-4, 1);
    expect(toUnit(scale, 1e-2)).toBeCloseTo(0.5);
    expect(toValue(scale, 0.25)).toBeCloseTo(1e-3);
  });

  it("give no place to zero and negative numbers on a log scale", () => {
    expect(toUnit(scaleOf("log", 1, 10), 0)).toBeNaN();
    expect(toUnit(scaleOf("log", 1, 10), -3)).toBeNaN();
  });

  it("make room around a single value so that it can be drawn", () => {
    const flat = scaleOf("linear", 3, 3);
    expect(toUnit(flat, 3)).toBeCloseTo(0.5);
    const zero = scaleOf("linear", 0, 0);
    expect(zero.hi).toBeGreaterThan(zero.lo);
    expect(toUnit(scaleOf("log", 5, 5), 5)).toBeCloseTo(0.5);
  });

  it("survive an extent of nothing", () => {
    expect(scaleOf("linear", Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)).toEqual({
      kind: "linear",
      lo: 0,
      hi: 1,
    });
    expect(scaleOf("log", -1, 4).lo).toBeGreaterThan(0);
  });

  it("pad in the scale's own space", () => {
    expect(scaleOf("linear", 0, 10, 0.1)).toEqual({ kind: "linear", lo: -1, hi: 11 });
    const log = scaleOf("log", 1, 100, 0.5);
    expect(log.lo).toBeCloseTo(0.1);
    expect(log.hi).toBeCloseTo(1000);
  });
});
