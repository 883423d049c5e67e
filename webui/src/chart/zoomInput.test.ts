import { describe, expect, it } from "vitest";
import { fromInput, toInput } from "./zoomInput";

describe("zoom inputs", () => {
  it("bring numbers and times there and back", () => {
    expect(fromInput(toInput(1234.5, "number"), "number")).toBe(1234.5);
    expect(fromInput(toInput(1_700_000_123, "time"), "time")).toBe(1_700_000_123);
  });

  it("know empty text from zero", () => {
    expect(fromInput(" ", "number")).toBeNaN();
    expect(fromInput("0", "number")).toBe(0);
  });
});
