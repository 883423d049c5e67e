import { describe, expect, it } from "vitest";
import { csvOf, twinRows } from "./csv";
import { linesOf } from "./lines";

const lines = linesOf(
  [
    { id: "a", name: 'a "quoted", name', x: [0, 1], y: [1.5, Number.NaN], min: [1, 1], max: [2, 2] },
    { id: "b", name: "=HYPERLINK(1)", x: [1, 2], y: [null, 3] },
  ],
  0.9,
);

describe("CSV", () => {
  it("holds the reported values, bands and all, not the smoothed ones", () => {
    expect(csvOf(lines, "batch", "loss").split("\r\n")).toEqual([
      "series,batch,loss,min,max",
      '"a ""quoted"", name",0,1.5,1,2',
      '"a ""quoted"", name",1,NaN,1,2',
      "'=HYPERLINK(1),1,,,",
      "'=HYPERLINK(1),2,3,,",
      "",
    ]);
  });
});

describe("the table twin", () => {
  it("has one row per x inside the range, ascending", () => {
    expect(twinRows(lines, { lo: 0, hi: 2 })).toEqual([
      { x: 0, values: [1.5, null] },
      { x: 1, values: [Number.NaN, null] },
      { x: 2, values: [null, 3] },
    ]);
    expect(twinRows(lines, { lo: 2, hi: 9 })).toHaveLength(1);
  });
});
