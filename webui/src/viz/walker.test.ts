import { describe, expect, it } from "vitest";
import { walked } from "./walker";

describe("walking over marks", () => {
  it("starts at the end that the arrow comes from and stops at the ends", () => {
    expect(walked("ArrowRight", null, 5)).toBe(0);
    expect(walked("ArrowLeft", null, 5)).toBe(4);
    expect(walked("ArrowDown", 4, 5)).toBe(4);
    expect(walked("ArrowUp", 0, 5)).toBe(0);
  });

  it("leaps by ten and to the ends", () => {
    expect(walked("PageDown", 3, 50)).toBe(13);
    expect(walked("PageUp", 3, 50)).toBe(0);
    expect(walked("End", 3, 50)).toBe(49);
    expect(walked("Home", 3, 50)).toBe(0);
  });

  it("lets go with Escape and leaves other keys and empty pictures alone", () => {
    expect(walked("Escape", 3, 5)).toBeNull();
    expect(walked("x", 3, 5)).toBeUndefined();
    expect(walked("Home", null, 0)).toBeUndefined();
  });
});
