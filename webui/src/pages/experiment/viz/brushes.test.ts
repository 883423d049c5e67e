import { describe, expect, it } from "vitest";
import { brushes } from "./brushes";

describe("brushes in an address", () => {
  it("are read as they were written", () => {
    const value = { "net.lr": [1e-5, 0.1] as const, act: ["relu", "a|b"], n: [-3, 4] as const };
    expect(brushes.parse(brushes.print(value))).toEqual(value);
    expect(brushes.print(value)).toBe("net.lr:0.00001..0.1;act:relu|a%7Cb;n:-3..4");
    expect(brushes.parse("")).toEqual({});
  });

  it("are nothing where they are broken", () => {
    expect(brushes.parse("nonsense")).toBeUndefined();
  });
});
