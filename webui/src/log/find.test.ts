import { describe, expect, it } from "vitest";
import { mark, markerOf, nextHit } from "./find";

describe("finding in a log", () => {
  it("takes plain text literally and whatever its case", () => {
    const parts = mark([{ text: "Loss (1.5) and lOSS (1.5)", style: null }], markerOf("loss (1.5)", false));
    expect(parts.filter((part) => part.hit).map((part) => part.text)).toEqual(["Loss (1.5)", "lOSS (1.5)"]);
    expect(parts.map((part) => part.text).join("")).toBe("Loss (1.5) and lOSS (1.5)");
  });

  it("marks a hit across a change of colour", () => {
    const red = {
      fg: 1,
      bg: null,
      bold: false,
      dim: false,
      italic: false,
      underline: false,
      strike: false,
      inverse: false,
    };
    const parts = mark(
      [
        { text: "abc", style: null },
        { text: "def", style: red },
      ],
      markerOf("cd", false),
    );
    expect(parts.map((part) => [part.text, part.hit])).toEqual([
      ["ab", false],
      ["c", true],
      ["d", true],
      ["ef", false],
    ]);
  });

  it("marks nothing for a pattern that only the master can read, or that matches nothing at all", () => {
    expect(markerOf("(?P<x>a)", true)).toBeNull();
    expect(markerOf("", true)).toBeNull();
    expect(mark([{ text: "aaa", style: null }], markerOf("b*", true)).some((part) => part.hit)).toBe(false);
  });

  it("steps from hit to hit, and round at the ends", () => {
    expect(nextHit([3, 7, 9], 7, 1)).toBe(9);
    expect(nextHit([3, 7, 9], 9, 1)).toBe(3);
    expect(nextHit([3, 7, 9], null, -1)).toBe(9);
    expect(nextHit([3, 7, 9], 3, -1)).toBe(9);
    expect(nextHit([], 3, 1)).toBeNull();
  });

  it("reads RE2's case flag", () => {
    expect(markerOf("(?i)error", true)?.flags).toContain("i");
  });
});
