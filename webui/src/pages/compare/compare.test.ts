// What differs between trials: names, metrics, files.
import { expect, test } from "vitest";
import { differenceRows, environmentOf, fileRows, metricRows } from "./differences";

test("what differs comes first", () => {
  const rows = differenceRows([
    { b: 1, a: { x: 1 }, z: 3 },
    { b: 1, a: { x: 2 } },
  ]);
  expect(rows.map((row) => [row.name, row.values, row.differs])).toEqual([
    ["a.x", [1, 2], true],
    ["z", [3, undefined], true],
    ["b", [1, 1], false],
  ]);
});

test("metrics are exact, validation first, empty where a trial has none", () => {
  const rows = metricRows(
    [{ avg_metrics: { loss: { last: 0.123456789 } } }, { validation_metrics: { acc: { last: 0.9 } } }],
    "last",
  );
  expect(rows).toEqual([
    { group: "validation", name: "acc", values: [null, 0.9] },
    { group: "training", name: "loss", values: [0.123456789, null] },
  ]);
});

test("an environment is what says where and with what", () => {
  expect(environmentOf({ environment: { image: "x" }, searcher: {}, entrypoint: "y" })).toEqual({
    environment: { image: "x" },
    entrypoint: "y",
  });
});

test("files are told apart by path and text", () => {
  const rows = fileRows(
    new Map([
      ["a", "1"],
      ["b", "2"],
      ["c", null],
    ]),
    new Map([
      ["a", "1"],
      ["b", "3"],
      ["d", ""],
    ]),
  );
  expect(rows.map((row) => [row.path, row.change])).toEqual([
    ["b", "changed"],
    ["c", "removed"],
    ["d", "added"],
    ["a", "same"],
  ]);
});
