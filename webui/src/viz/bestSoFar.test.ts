import { describe, expect, it } from "vitest";
import { bestSoFar } from "./bestSoFar";

const points = [
  { x: 3, y: 4 },
  { x: 1, y: 5 },
  { x: 2, y: 7 },
  { x: 4, y: Number.NaN },
  { x: 5, y: 6 },
];

describe("best so far", () => {
  it("steps down at each improvement and runs on to the end", () => {
    expect(bestSoFar(points, "lower")).toEqual([
      [1, 5],
      [3, 4],
      [5, 4],
    ]);
  });

  it("steps up where higher is better", () => {
    expect(bestSoFar(points, "higher")).toEqual([
      [1, 5],
      [2, 7],
      [5, 7],
    ]);
  });

  it("is nothing for nothing", () => {
    expect(bestSoFar([], "lower")).toEqual([]);
  });
});
