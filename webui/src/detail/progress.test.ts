import { describe, expect, it } from "vitest";
import { secondsLeft, slotHours } from "./progress";

describe("progress", () => {
  it("estimates what is left from what is done", () => {
    expect(secondsLeft(0.25, 60)).toBe(180);
    expect(secondsLeft(0.3, 1000)).toBe(2340);
    expect(secondsLeft(0.999, 60)).toBe(5);
    expect(secondsLeft(0.5, 1)).toBeNull();
    expect(secondsLeft(0, 60)).toBeNull();
    expect(secondsLeft(1, 60)).toBeNull();
    expect(secondsLeft(0.5, null)).toBeNull();
  });

  it("adds up slot hours", () => {
    expect(slotHours([{ wallClockTime: 3600 }, { wallClockTime: 1800 }, {}], 2)).toBe(3);
  });
});
