// Codecs: what is printed reads back, and nonsense is refused.
import { expect, test } from "vitest";
import { flag, float, idRanges, int, list, oneOf, sortList } from "./codecs";

test("a list with commas and backslashes in its items reads back", () => {
  const items = ["a,b", "c\\d", "plain", "é ü"];
  expect(list.parse(list.print(items))).toEqual(items);
  expect(list.print(["a,b", "c"])).toBe("a\\,b,c");
});

test("an empty list is empty text and back", () => {
  expect(list.print([])).toBe("");
  expect(list.parse("")).toEqual([]);
});

test("a minus before a key sorts it descending", () => {
  expect(sortList.parse("-val_loss,id")).toEqual([
    { key: "val_loss", descending: true },
    { key: "id", descending: false },
  ]);
  expect(sortList.print([{ key: "hp.a,b", descending: true }])).toBe("-hp.a\\,b");
});

test("ids are written as ranges, sorted and without repeats", () => {
  expect(idRanges.print([9, 1, 2, 5, 6, 7, 8, 2])).toBe("1-2,5-9");
  expect(idRanges.parse("1-2,5-9")).toEqual([1, 2, 5, 6, 7, 8, 9]);
});

test("ranges that are backwards, endless or no numbers are refused", () => {
  expect(idRanges.parse("9-1")).toBeUndefined();
  expect(idRanges.parse("1-999999999999")).toBeUndefined();
  expect(idRanges.parse("1,x")).toBeUndefined();
});

test("numbers that are none are refused", () => {
  expect(int.parse("12")).toBe(12);
  expect(int.parse("1.5")).toBeUndefined();
  expect(int.parse("")).toBeUndefined();
  expect(float.parse("1e-3")).toBe(0.001);
  expect(float.parse(" ")).toBeUndefined();
  expect(float.parse("Infinity")).toBeUndefined();
});

test("a flag reads its words only", () => {
  expect(flag.parse("1")).toBe(true);
  expect(flag.parse("false")).toBe(false);
  expect(flag.parse("maybe")).toBeUndefined();
});

test("one of some words refuses the others", () => {
  const axis = oneOf("batch", "time");
  expect(axis.parse("time")).toBe("time");
  expect(axis.parse("epoch")).toBeUndefined();
});
