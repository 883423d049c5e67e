import { describe, expect, it } from "vitest";
import { textOn, viridis, viridisOn } from "./viridis";

describe("viridis", () => {
  it("runs from violet to yellow and stays inside for what lies outside", () => {
    expect(viridis(0)).toBe("rgb(68, 1, 84)");
    expect(viridis(1)).toBe("rgb(253, 231, 37)");
    expect(viridis(7)).toBe(viridis(1));
    expect(viridis(Number.NaN)).toBe(viridis(0));
  });

  it("leaves out the end that the ground would swallow", () => {
    expect(viridisOn(true, 0)).not.toBe(viridis(0));
    expect(viridisOn(false, 1)).not.toBe(viridis(1));
  });

  it("is written on in white at the dark end and in black at the light one", () => {
    expect(textOn(0)).toBe("#ffffff");
    expect(textOn(1)).toBe("#000000");
  });
});
