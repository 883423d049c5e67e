import { describe, expect, it } from "vitest";
import { smoothed } from "./ema";

const even = [0, 1, 2, 3, 4];

describe("smoothing", () => {
  it("starts at the first value and not near zero", () => {
    expect(smoothed(even, [5, 5, 5, 5, 5], 0.9).every((y) => Math.abs((y ?? 0) - 5) < 1e-9)).toBe(true);
  });

  it("is the debiased moving average when steps are even", () => {
    const [first, second] = smoothed([0, 1], [0, 1], 0.5);
    expect(first).toBe(0);
    expect(second).toBeCloseTo(1 / 1.5);
  });

  it("remembers less over a long distance in x", () => {
    const near = smoothed([0, 1, 2, 3], [0, 0, 0, 1], 0.9)[3] ?? 0;
    const far = smoothed([0, 1, 2, 30], [0, 0, 0, 1], 0.9)[3] ?? 0;
    expect(far).toBeGreaterThan(near);
    expect(far).toBeGreaterThan(0.7);
  });

  it("keeps gaps and goes on after them", () => {
    const out = smoothed(even, [1, null, Number.NaN, 1, 1], 0.6);
    expect(out[1]).toBeNull();
    expect(out[2]).toBeNaN();
    expect(out[4]).toBeCloseTo(1);
  });

  it("returns the values themselves at weight zero", () => {
    expect(smoothed(even, [1, 2, null, 4, 5], 0)).toEqual([1, 2, null, 4, 5]);
  });
});
