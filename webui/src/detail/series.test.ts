import { describe, expect, it } from "vitest";
import { chartSeries, toSeries } from "./series";

const WIRE = {
  name: "loss",
  group: "training",
  x: [10, 20, 30],
  last: [1, "NaN", 0.5],
  min: [0.5, 1, 0.1],
  max: [2, 9, 1],
  count: [10, 10, 10],
  notFinite: [0, 3, 0],
  exact: false,
};

describe("series", () => {
  it("passes NaN on for the chart to count, and keeps the band of buckets", () => {
    const series = toSeries(7, WIRE, "batch", "loss");
    expect(series).toMatchObject({
      trialId: 7,
      x: [10, 20, 30],
      y: [1, Number.NaN, 0.5],
      min: [0.5, 1, 0.1],
      notFinite: [0, 3, 0],
      exact: false,
    });
  });

  it("has no band where every point is a report", () => {
    expect(toSeries(7, { ...WIRE, exact: true }, "batch", "loss").min).toBeUndefined();
  });

  it("counts relative time from the first report", () => {
    expect(toSeries(7, WIRE, "relative", "loss").x).toEqual([0, 10, 20]);
  });

  it("takes the metrics of a chart from every trial that has them", () => {
    const trials = [
      { trialId: 1, metrics: [WIRE], positions: [] },
      { trialId: 2, metrics: [], positions: [] },
    ];
    const found = chartSeries(trials, [{ group: "training", name: "loss" }], "batch", (id) => `trial ${id}`);
    expect(found.map((series) => series.name)).toEqual(["trial 1"]);
  });
});
