import { describe, expect, it } from "vitest";
import { heatOf } from "./binning";
import type { VizAxis } from "./types";

const lr: VizAxis = { key: "lr", label: "lr", kind: "log" };
const optimiser: VizAxis = { key: "opt", label: "optimiser", kind: "category" };

describe("heat map", () => {
  it("keeps few distinct numbers as they are and takes the mean of a cell", () => {
    const heat = heatOf(
      [
        { id: 1, x: 0.1, y: "adam", value: 1 },
        { id: 2, x: 0.1, y: "adam", value: 3 },
        { id: 3, x: 0.01, y: "sgd", value: 9 },
      ],
      lr,
      optimiser,
    );
    expect(heat.columns).toEqual(["0.01", "0.1"]);
    expect(heat.rows).toEqual(["adam", "sgd"]);
    expect(heat.cells[0]?.[1]).toEqual({ mean: 2, n: 2, ids: [1, 2] });
    expect(heat.cells[0]?.[0]).toBeNull();
    expect([heat.lo, heat.hi]).toEqual([2, 9]);
  });

  it("bins many numbers evenly in the axis' own space and loses none", () => {
    const points = Array.from({ length: 81 }, (_, i) => ({ id: i, x: 10 ** (-4 + i / 20), y: "a", value: i }));
    const heat = heatOf(points, lr, optimiser);
    expect(heat.columns).toHaveLength(8);
    const counts = heat.cells[0]?.map((cell) => cell?.n ?? 0) ?? [];
    expect(counts.reduce((a, b) => a + b)).toBe(81);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  });

  it("leaves out values that are no numbers", () => {
    expect(heatOf([{ id: 1, x: 1, y: "a", value: Number.NaN }], lr, optimiser).columns).toEqual([]);
  });
});
