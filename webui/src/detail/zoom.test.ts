import { describe, expect, it } from "vitest";
import { parseZoom, printZoom } from "./zoom";

describe("the zoom in an address", () => {
  it("is read as it was written", () => {
    expect(parseZoom(printZoom([100, 250.5]))).toEqual([100, 250.5]);
    expect(parseZoom(printZoom([-3, 1e9]))).toEqual([-3, 1e9]);
    expect(printZoom(null)).toBe("");
  });

  it("is nothing where it is none", () => {
    for (const bad of ["", "x..y", "5", "9..3"]) expect(parseZoom(bad)).toBeNull();
  });
});
