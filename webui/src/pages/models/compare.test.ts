import { expect, test } from "vitest";
import { comparedMetrics, comparePath, trialsOf } from "./compare";

test("the choice of versions is in the address", () => {
  expect(comparePath(7, [3, 1, 2])).toBe("/models/7/compare?versions=1-3");
  expect(comparePath(7, [9, 1])).toBe("/models/7/compare?versions=1,9");
});

test("metrics that differ come first, validation before training, a missing value is null", () => {
  const rows = comparedMetrics([
    { version: 1, validation: { same: 1, loss: 0.5, note: "text" }, training: { loss: 2 } },
    { version: 2, validation: { same: 1, loss: "NaN", only: 3 }, training: {} },
  ]);
  expect(rows.map((row) => [row.group, row.name, row.differs])).toEqual([
    ["validation", "loss", true],
    ["validation", "only", true],
    ["validation", "same", false],
    ["training", "loss", true],
  ]);
  expect(rows[0]?.values).toEqual([0.5, Number.NaN]);
  expect(rows[1]?.values).toEqual([null, 3]);
});

test("two values that are not a number do not differ", () => {
  const nan = { version: 1, validation: { loss: "NaN" }, training: {} };
  expect(comparedMetrics([nan, nan]).map((row) => row.differs)).toEqual([false]);
});

test("a trial of two versions is named once", () => {
  expect(trialsOf([5, null, 3, 5, undefined])).toEqual([5, 3]);
});
