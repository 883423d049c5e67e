import { describe, expect, it } from "vitest";
import { linesOf } from "./lines";
import { nearestIndex, nearestLine, stepFrom } from "./nearest";

const lines = linesOf(
  [
    { id: "a", name: "a", x: [0, 10, 20, 30], y: [1, null, Number.NaN, 4] },
    { id: "b", name: "b", x: [5, 15], y: [8, 9] },
  ],
  0,
);
const [a, b] = lines;

describe("hit testing", () => {
  it("passes over gaps to the nearest drawn point", () => {
    expect(a && nearestIndex(a, 12)).toBe(0);
    expect(a && nearestIndex(a, 19)).toBe(3);
    expect(b && nearestIndex(b, 999)).toBe(1);
  });

  it("finds nothing in a line of gaps", () => {
    const [empty] = linesOf([{ id: "e", name: "e", x: [0, 1], y: [null, null] }], 0);
    expect(empty && nearestIndex(empty, 0)).toBeNull();
  });

  it("picks the line closest to the pointer in pixels", () => {
    const toPixel = (value: number) => value * 10;
    expect(nearestLine(lines, 5, 75, toPixel)?.line.id).toBe("b");
    expect(nearestLine(lines, 5, 12, toPixel)?.line.id).toBe("a");
    expect(nearestLine([], 5, 12, toPixel)).toBeNull();
  });
});

describe("keyboard steps", () => {
  it("go to the next x of any line and end at the ends", () => {
    expect(stepFrom(lines, 0, 1)).toBe(5);
    expect(stepFrom(lines, 10, 1)).toBe(15);
    expect(stepFrom(lines, 10, -1)).toBe(5);
    expect(stepFrom(lines, 30, 1)).toBeNull();
    expect(stepFrom(lines, 0, -1)).toBeNull();
  });
});
