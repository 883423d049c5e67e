import { describe, expect, it } from "vitest";
import { sparkPath } from "./spark";

describe("sparkline", () => {
  it("runs from the lower left to the upper right of rising values", () => {
    expect(sparkPath([0, 1, 2], 26, 16)).toEqual({ path: "M3 13L13 8L23 3", end: [23, 3] });
  });

  it("leaves gaps open and ends at the last number", () => {
    const { path, end } = sparkPath([1, null, Number.NaN, 3, null], 26, 16);
    expect(path.match(/M/g)).toHaveLength(2);
    expect(end?.[0]).toBe(18);
  });

  it("draws a flat line in the middle and nothing for nothing", () => {
    expect(sparkPath([5, 5], 20, 10).path).toBe("M3 5L17 5");
    expect(sparkPath([], 20, 10)).toEqual({ path: "", end: null });
  });
});
