import { describe, expect, it } from "vitest";
import { columnsOf, offsetsOf, rowAt, rowHeight, visible } from "./layout";

describe("layout of log rows", () => {
  it("counts columns as a fixed-width font shows them", () => {
    expect(columnsOf("hello")).toBe(5);
    expect(columnsOf("日本")).toBe(4);
    expect(columnsOf("e\u0301")).toBe(1);
  });

  it("gives a wrapped row as many lines as it needs", () => {
    expect(rowHeight("x".repeat(201), 100)).toBe(64);
    expect(rowHeight("x".repeat(200), 100)).toBe(44);
    expect(rowHeight("", 100)).toBe(24);
    expect(rowHeight("x".repeat(500), null)).toBe(24);
  });

  it("finds the row under an offset", () => {
    const offsets = offsetsOf([24, 44, 24]);
    expect([0, 23, 24, 67, 68, 1000].map((y) => rowAt(offsets, y))).toEqual([0, 0, 1, 1, 2, 2]);
  });

  it("draws only what is in view and a little more", () => {
    const offsets = offsetsOf(Array.from({ length: 1000 }, () => 24));
    expect(visible(offsets, 2400, 240, 5)).toEqual([95, 116]);
    expect(visible(offsetsOf([]), 0, 240)).toEqual([0, 0]);
  });
});
