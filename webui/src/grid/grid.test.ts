// The grid's arithmetic: places, recycling of elements, keys, selection, order of columns.
import { expect, test } from "vitest";
import { actionOf, moved } from "./keys";
import { assignSlots, columnsInSight, layoutColumns, rowsInSight, scrollToShow } from "./layout";
import { dropTarget, movedBefore, movedBy, nextSort } from "./reorder";
import { chosenCount, EVERYTHING, isChosen, NOTHING, selectionCodec, toggled, withAll } from "./selection";

const COLUMNS = [
  { key: "a", width: 100 },
  { key: "b", width: 50, pinned: true },
  { key: "c", width: 200 },
  { key: "d", width: 300 },
];

test("pinned columns come first and stay in sight", () => {
  const layout = layoutColumns(COLUMNS, 40);
  expect(layout.placed.map((one) => [one.column.key, one.left])).toEqual([
    ["b", 40],
    ["a", 90],
    ["c", 190],
    ["d", 390],
  ]);
  expect(layout).toMatchObject({ pinnedWidth: 90, width: 690 });
  expect(columnsInSight(layout, 320, 150, null, 0).map((one) => one.column.key)).toEqual(["b", "d"]);
  expect(columnsInSight(layout, 320, 150, 1, 0).map((one) => one.column.key)).toEqual(["b", "a", "d"]);
});

test("rows in sight are those between the edges, with some to spare", () => {
  expect(rowsInSight(0, 100, 20, 1000, 0)).toEqual({ first: 0, last: 4 });
  expect(rowsInSight(210, 100, 20, 1000, 2)).toEqual({ first: 8, last: 17 });
  expect(rowsInSight(0, 100, 20, 3, 5)).toEqual({ first: 0, last: 2 });
  expect(rowsInSight(0, 100, 20, 0, 5).last).toBe(-1);
});

test("a row keeps its element while it is drawn and free elements are used again", () => {
  const first = assignSlots(new Map(), [0, 1, 2, 3]);
  const second = assignSlots(first, [2, 3, 4, 5]);
  expect(second.get(2)).toBe(first.get(2));
  expect(new Set(second.values())).toEqual(new Set([0, 1, 2, 3]));
});

test("the focused row keeps its element far out of sight", () => {
  const first = assignSlots(new Map(), [0, 1, 2]);
  const far = assignSlots(first, [1, 500, 501]);
  expect(far.get(1)).toBe(first.get(1));
  expect(far.size).toBe(3);
});

test("keys move within the table and stop at its edges", () => {
  const extent = { rows: 100, columns: 5, page: 10 };
  const press = (key: string, far = false) => ({ key, ctrlKey: far, metaKey: false, shiftKey: false, altKey: false });
  expect(moved({ row: 0, column: 0 }, press("ArrowUp"), extent)).toEqual({ row: -1, column: 0 });
  expect(moved({ row: -1, column: 0 }, press("ArrowUp"), extent)).toEqual({ row: -1, column: 0 });
  expect(moved({ row: 95, column: 2 }, press("PageDown"), extent)).toEqual({ row: 99, column: 2 });
  expect(moved({ row: 5, column: 2 }, press("End", true), extent)).toEqual({ row: 99, column: 4 });
  expect(moved({ row: 5, column: 2 }, press("Home"), extent)).toEqual({ row: 5, column: 0 });
  expect(moved({ row: 5, column: 2 }, press("q"), extent)).toBeNull();
  expect(actionOf({ ...press(" "), shiftKey: true })).toBe("range");
  expect(actionOf(press("a", true))).toBe("all");
  expect(actionOf(press("a"))).toBeNull();
});

test("a span is scrolled into sight below what sticks to the edge", () => {
  expect(scrollToShow(100, 200, 30, 110, 140)).toBe(80);
  expect(scrollToShow(100, 200, 30, 290, 320)).toBe(120);
  expect(scrollToShow(100, 200, 30, 150, 180)).toBe(100);
});

test("some or all but some are chosen, counted and written", () => {
  const some = withAll(toggled(NOTHING, 7), [1, 2, 3]);
  expect(selectionCodec.print(some)).toBe("1-3,7");
  expect(isChosen(some, 2)).toBe(true);
  const most = toggled(EVERYTHING, 3);
  expect(selectionCodec.print(most)).toBe("all-3");
  expect(isChosen(most, 3)).toBe(false);
  expect(chosenCount(most, 8412)).toBe(8411);
  for (const one of [NOTHING, some, most, EVERYTHING])
    expect(selectionCodec.parse(selectionCodec.print(one))).toEqual(one);
  expect(selectionCodec.parse("none")).toBeUndefined();
});

test("columns move by drop and by menu, pinned ones among themselves", () => {
  const { placed } = layoutColumns(COLUMNS, 0);
  expect(dropTarget(placed, "d", 60)).toBe("a");
  expect(dropTarget(placed, "a", 10_000)).toBeNull();
  const keys = (columns: { key: string }[]) => columns.map((one) => one.key).join("");
  expect(keys(movedBefore(COLUMNS, "d", "a"))).toBe("dabc");
  expect(keys(movedBefore(COLUMNS, "a", null))).toBe("bcda");
  expect(keys(movedBy(COLUMNS, "c", -1))).toBe("cabd");
  expect(keys(movedBy(COLUMNS, "c", 1))).toBe("abdc");
  expect(keys(movedBy(COLUMNS, "b", 1))).toBe("abcd");
});

test("a header steps through up, down and none, alone or as a further key", () => {
  const up = nextSort([], "a", false);
  expect(up).toEqual([{ key: "a", descending: false }]);
  const down = nextSort(up, "a", false);
  expect(down).toEqual([{ key: "a", descending: true }]);
  expect(nextSort(down, "a", false)).toEqual([]);
  expect(nextSort(down, "b", true)).toEqual([...down, { key: "b", descending: false }]);
  expect(nextSort(down, "b", false)).toEqual([{ key: "b", descending: false }]);
});
