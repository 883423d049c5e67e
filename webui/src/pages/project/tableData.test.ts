// Columns in the address, values of rows, and rows that stay in their places.
import { expect, test } from "vitest";
import { catalogueOf } from "../../query/catalogue";
import { columnsCodec, usualColumns } from "./columnList";
import { caughtUp, noRows, received, rowAt, updatesIn } from "./liveRows";
import { columnValue, deltaOf, rowOfRun } from "./rowValues";

test("columns are written with their width and pin, and read back", () => {
  const columns = [
    { key: "id", width: 80, pinned: true },
    { key: "state" },
    { key: "validation.top,1.last", width: 120 },
  ];
  expect(columnsCodec.print(columns)).toBe("id~80!,state,validation.top\\,1.last~120");
  expect(columnsCodec.parse(columnsCodec.print(columns))).toEqual(columns);
  expect(columnsCodec.parse("id,id!,")).toEqual([{ key: "id" }]);
});

test("the usual columns take in a few hyperparameters and metrics", () => {
  const catalogue = catalogueOf(
    ["hp.a", "hp.b", "hp.c", "hp.d", "hp.e"].map((column) => ({
      column,
      location: "LOCATION_TYPE_RUN_HYPERPARAMETERS",
      type: "COLUMN_TYPE_NUMBER",
    })),
  );
  const keys = usualColumns("run", catalogue).map((one) => one.key);
  expect(keys).toContain("hp.d");
  expect(keys).not.toContain("hp.e");
  expect(keys[0]).toBe("id");
});

const RUN = {
  id: 7,
  state: "STATE_COMPLETED",
  archived: false,
  hyperparameters: { lr: 0.1, net: { width: 8 } },
  metadata: { "a.b": 1 },
  labels: ["x"],
  searcherMetricValue: 0.5,
  summaryMetrics: {
    validation_metrics: { "top.1": { last: 0.9, min: 0.1, sum: 3, count: 4 } },
    custom: { z: { last: 2 } },
  },
  experiment: { id: 3, name: "cifar", searcherMetric: "top.1" },
} as unknown as Parameters<typeof rowOfRun>[0];

test("any column of a trial has its value", () => {
  const row = rowOfRun(RUN);
  const found = [
    "hp.lr",
    "hp.net.width",
    "metadata.a.b",
    "validation.top.1.last",
    "validation.top.1.mean",
    "custom.z.last",
    "tags",
  ].map((key) => columnValue(row, key));
  expect(found).toEqual([0.1, 8, 1, 0.9, 0.75, 2, ["x"]]);
  expect(columnValue(row, "experimentName")).toBe("cifar");
  expect(columnValue(row, "training.loss.last")).toBeUndefined();
  expect(row.href).toBe("/experiments/3/trials/7");
});

test("a difference from the baseline is absolute and relative", () => {
  expect(deltaOf(0.9, 1)?.part).toBeCloseTo(-0.1);
  expect(deltaOf(2, 0)).toEqual({ difference: 2, part: null });
  expect(deltaOf(null, 1)).toBeNull();
});

const page = (...ids: number[]) => ids.map((id) => ({ id, value: id }));

test("a changed row changes in place and a new order waits", () => {
  const first = received(noRows<{ id: number; value: number }>("q", 3), 0, page(1, 2, 3), 3);
  const changed = received(
    first,
    0,
    [
      { id: 2, value: 99 },
      { id: 1, value: 1 },
      { id: 3, value: 3 },
    ],
    3,
  );
  expect(rowAt(changed, 0)?.id).toBe(1);
  expect(rowAt(changed, 1)?.value).toBe(99);
  expect(updatesIn(changed)).toBe(2);
  const now = caughtUp(changed);
  expect(rowAt(now, 0)?.id).toBe(2);
  expect(updatesIn(now)).toBe(0);
});

test("rows that came are counted as one each, not as everything they push down", () => {
  const first = received(noRows<{ id: number; value: number }>("q", 3), 0, page(3, 2, 1), 3);
  const grown = received(first, 0, page(4, 3, 2, 1), 4);
  expect(updatesIn(grown)).toBe(1);
  expect(grown.total).toBe(3);
  expect(rowAt(caughtUp(grown), 0)?.id).toBe(4);
});

test("rows that went leave with the next order", () => {
  const first = received(noRows<{ id: number; value: number }>("q", 3), 0, page(3, 2, 1), 3);
  const fewer = received(first, 0, page(3, 1), 2);
  expect(updatesIn(fewer)).toBe(1);
  expect([0, 1, 2].map((i) => rowAt(caughtUp(fewer), i)?.id)).toEqual([3, 1, undefined]);
});
