import { describe, expect, it } from "vitest";
import { axisScale, axisTicks, stretchOf, unitOf, unitsOfRange } from "./axis";
import type { VizAxis } from "./types";

const log: VizAxis = { key: "lr", label: "lr", kind: "log" };
const optimiser: VizAxis = { key: "opt", label: "optimiser", kind: "category" };

describe("axes", () => {
  it("span the numbers they are given and pass over what a log axis cannot show", () => {
    const axis = axisScale(log, [0, 1e-4, 1e-2, undefined, -1]);
    expect(unitOf(axis, 1e-4)).toBe(0);
    expect(unitOf(axis, 1e-3)).toBeCloseTo(0.5);
    expect(unitOf(axis, 0)).toBeNaN();
    expect(unitOf(axis, undefined)).toBeNaN();
  });

  it("put categories in the middle of equal parts, in a stable order", () => {
    const axis = axisScale(optimiser, ["sgd", "adam", "sgd", 10, 9]);
    expect(axis).toEqual({ kind: "category", values: ["9", "10", "adam", "sgd"] });
    expect(unitOf(axis, "9")).toBe(0.125);
    expect(unitOf(axis, "lamb")).toBeNaN();
  });

  it("thin out the labels of many categories", () => {
    const axis = axisScale({ ...optimiser, values: Array.from({ length: 100 }, (_, i) => `c${i}`) }, []);
    expect(axisTicks(axis, 5).length).toBeLessThanOrEqual(10);
  });
});

describe("stretches", () => {
  it("are number ranges whichever way one drags", () => {
    const axis = axisScale({ ...log, kind: "linear" }, [0, 10]);
    expect(stretchOf(axis, 0.7, 0.2)).toEqual([2, 7]);
    expect(unitsOfRange(axis, [2, 7])).toEqual([0.2, 0.7]);
    expect(unitsOfRange(axis, [-99, 99])).toEqual([0, 1]);
  });

  it("are all categories they touch", () => {
    const axis = axisScale(optimiser, ["a", "b", "c", "d"]);
    expect(stretchOf(axis, 0.3, 0.6)).toEqual(["b", "c"]);
    expect(unitsOfRange(axis, [0, 1])).toBeNull();
  });
});
