import { describe, expect, it } from "vitest";
import { byHeat, layoutOf, nearestParallel, type ParallelRow, passes, withBrush } from "./parallel";
import type { VizAxis } from "./types";

const axes: VizAxis[] = [
  { key: "lr", label: "lr", kind: "log" },
  { key: "opt", label: "optimiser", kind: "category" },
  { key: "layers", label: "layers", kind: "linear" },
];
const rows: ParallelRow[] = [
  { id: 1, values: { lr: 1e-4, opt: "adam", layers: 2 }, metric: 0.1 },
  { id: 2, values: { lr: 1e-2, opt: "sgd", layers: 4 }, metric: 0.5 },
  { id: 3, values: { lr: 1e-3, layers: 3 } },
];

describe("layout", () => {
  const layout = layoutOf(axes, rows);

  it("places every value on its axis and leaves a gap where there is none", () => {
    expect(layout.lines[0]?.units).toEqual([0, 0.25, 0]);
    expect(layout.lines[1]?.units).toEqual([1, 0.75, 1]);
    expect(layout.lines[2]?.units[1]).toBeNaN();
  });

  it("colours by the metric and knows who has none", () => {
    expect(layout.lines.map((line) => line.heat)).toEqual([0, 1, Number.NaN]);
    expect(layout.metric).toEqual({ lo: 0.1, hi: 0.5 });
    expect([...byHeat(layout.lines, 8).keys()]).toEqual([-1, 0, 7]);
  });

  it("finds the line under the pointer between two axes", () => {
    const size = { width: 200, height: 100 };
    expect(nearestParallel(layout.lines, { x: 0, y: 98 }, size, 8)?.row.id).toBe(1);
    expect(nearestParallel(layout.lines, { x: 50, y: 12 }, size, 8)?.row.id).toBe(2);
    expect(nearestParallel(layout.lines, { x: 50, y: 50 }, size, 8)).toBeNull();
  });
});

describe("brushes", () => {
  it("must all be passed, numbers and categories alike", () => {
    const ids = (brushes: Parameters<typeof passes>[1]) =>
      rows.filter((row) => passes(row, brushes)).map((row) => row.id);
    expect(ids({})).toEqual([1, 2, 3]);
    expect(ids({ lr: [5e-4, 1] })).toEqual([2, 3]);
    expect(ids({ lr: [5e-4, 1], opt: ["sgd"] })).toEqual([2]);
    expect(ids({ opt: [] })).toEqual([]);
  });

  it("are set and taken away one by one", () => {
    const one = withBrush({}, "lr", [0, 1]);
    expect(withBrush(one, "opt", ["adam"])).toEqual({ lr: [0, 1], opt: ["adam"] });
    expect(withBrush(one, "lr", null)).toEqual({});
  });
});
