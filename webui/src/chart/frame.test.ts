import { describe, expect, it } from "vitest";
import { type FrameOptions, frameOf, inside, lowerBound, percentile } from "./frame";
import { linesOf } from "./lines";
import type { Series } from "./types";

const plain: FrameOptions = { logX: false, logY: false, hideOutliers: false, range: null };
const series = (more: Partial<Series>): Series => ({ id: "a", name: "a", x: [], y: [], ...more });
const frame = (all: Series[], options: Partial<FrameOptions> = {}) =>
  frameOf(linesOf(all, 0), { ...plain, ...options });
const steps = Array.from({ length: 100 }, (_, i) => i);

describe("frame", () => {
  it("spans the x of all lines and pads y", () => {
    const { x, y } = frame([series({ x: [0, 10], y: [1, 2] }), series({ id: "b", x: [5, 20], y: [0, 1] })]);
    expect([x.lo, x.hi]).toEqual([0, 20]);
    expect(y.lo).toBeLessThan(0);
    expect(y.hi).toBeGreaterThan(2);
  });

  it("holds the whole band, so that a spike inside a bucket is seen", () => {
    const { y } = frame([series({ x: [0, 1], y: [1, 1], min: [1, 1], max: [1, 900] })]);
    expect(y.hi).toBeGreaterThan(900);
  });

  it("scales y to the zoomed part only", () => {
    const { x, y } = frame([series({ x: [0, 1, 2, 3], y: [1000, 1, 2, 3] })], { range: [1, 3] });
    expect([x.lo, x.hi]).toEqual([1, 3]);
    expect(y.hi).toBeLessThan(4);
  });

  it("hides outliers by percentiles and says how many", () => {
    const y = steps.map((i) => (i === 50 ? 1e6 : i / 100));
    const shown = frame([series({ x: steps, y })], { hideOutliers: true });
    expect(shown.y.hi).toBeLessThan(2);
    expect(shown.words[0]).toBe("Outliers hidden (percentiles 1 to 99 shown): 2 of 100 points lie outside.");
  });

  it("leaves a handful of points alone when asked to hide outliers", () => {
    expect(frame([series({ x: [0, 1, 2], y: [1, 1, 99] })], { hideOutliers: true }).y.hi).toBeGreaterThan(99);
  });

  it("says which values a log axis cannot show", () => {
    const { y, words } = frame([series({ x: [0, 1, 2], y: [0, 1, 10] })], { logY: true });
    expect(y.lo).toBeGreaterThan(0);
    expect(words).toEqual(["1 values ≤ 0 have no place on a log axis."]);
  });

  it("starts a log x axis at the first positive step", () => {
    expect(frame([series({ x: [0, 10, 100], y: [1, 1, 1] })], { logX: true }).x.lo).toBe(10);
  });

  it("counts NaN and infinities, and is not spoilt by them", () => {
    const { y, words } = frame([series({ x: [0, 1, 2, 3], y: [1, Number.NaN, Number.POSITIVE_INFINITY, null] })]);
    expect(Number.isFinite(y.hi)).toBe(true);
    expect(words[0]).toContain("2 points NaN or infinite");
  });

  it("tells buckets from exact values", () => {
    expect(frame([series({ x: [0], y: [1], min: [0], max: [2] })]).words[0]).toContain("bucket");
    expect(frame([series({ x: [0], y: [1] })]).words).toEqual([]);
  });
});

describe("searching", () => {
  it("finds the part of the ascending x inside a range", () => {
    expect(inside([0, 1, 2, 3, 4], { lo: 1, hi: 3 })).toEqual([1, 4]);
    expect(inside([0, 10], { lo: 2, hi: 3 })).toEqual([1, 1]);
    expect(lowerBound([1, 1, 2], 1, true)).toBe(2);
  });

  it("takes percentiles from the values themselves, on the inner side", () => {
    expect(percentile([0, 1, 2, 3, 1e9], 99)).toBe(3);
    expect(percentile([-1e9, 1, 2, 3, 4], 1)).toBe(1);
    expect(percentile([4], 99)).toBe(4);
  });
});
