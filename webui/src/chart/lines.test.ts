import { describe, expect, it } from "vitest";
import { linesOf, shownLines } from "./lines";
import type { Series } from "./types";

const series = (id: string, more: Partial<Series> = {}): Series => ({ id, name: id, x: [0, 1], y: [1, 2], ...more });

describe("lines", () => {
  it("of one trial in two charts share what a legend click isolates", () => {
    const [loss] = linesOf([series("7.loss", { trialId: 7 })], 0);
    const [accuracy] = linesOf([series("7.accuracy", { trialId: 7 })], 0);
    expect(loss?.soloKey).toBe(accuracy?.soloKey);
  });

  it("of one trial in one chart can be isolated one by one and look different", () => {
    const lines = linesOf([series("train", { trialId: 7 }), series("val", { trialId: 7 })], 0);
    expect(lines[0]?.soloKey).not.toBe(lines[1]?.soloKey);
    expect(lines[0]?.look).not.toEqual(lines[1]?.look);
  });

  it("wear the colour that a page gives them, undashed", () => {
    const lines = linesOf([series("a", { trialId: 9, colour: "rgb(1, 2, 3)" }), series("b", { trialId: 10 })], 0);
    expect(lines[0]?.look).toEqual({ colour: "rgb(1, 2, 3)", dash: [] });
    expect(lines[1]?.look.colour).toMatch(/^var/);
  });

  it("keep the reported values beside the smoothed ones", () => {
    const [line] = linesOf([series("a")], 0.9);
    expect(line?.y).toEqual([1, 2]);
    expect(line?.drawn[1]).toBeLessThan(2);
  });

  it("know that a band means buckets unless the series says it is exact", () => {
    const band = { min: [0, 0], max: [3, 3] };
    expect(linesOf([series("a", band)], 0)[0]?.bucketed).toBe(true);
    expect(linesOf([series("a", { ...band, exact: true })], 0)[0]?.bucketed).toBe(false);
    expect(linesOf([series("a")], 0)[0]?.bucketed).toBe(false);
    expect(linesOf([series("a", { exact: false })], 0)[0]?.bucketed).toBe(true);
  });
});

describe("solo", () => {
  const lines = linesOf([series("a"), series("b"), series("base", { baseline: true })], 0);

  it("leaves one line and the baseline", () => {
    expect(shownLines(lines, "b").map((line) => line.id)).toEqual(["b", "base"]);
  });

  it("on a series that is gone shows all again", () => {
    expect(shownLines(lines, "gone")).toHaveLength(3);
    expect(shownLines(lines, null)).toHaveLength(3);
  });
});
