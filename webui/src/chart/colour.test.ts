import { describe, expect, it } from "vitest";
import { colourOf, lookOf } from "./colour";

describe("colourOf", () => {
  it("gives 24 neighbouring trials 24 different looks", () => {
    const looks = Array.from({ length: 24 }, (_, id) => JSON.stringify(colourOf(id + 100)));
    expect(new Set(looks).size).toBe(24);
  });

  it("depends on the id alone", () => {
    expect(colourOf(412)).toEqual(colourOf(412));
    expect(lookOf({ id: "whatever", trialId: 412 })).toEqual(colourOf(412));
    expect(lookOf({ id: "gpu0" })).toEqual(lookOf({ id: "gpu0" }));
  });

  it("tells several series of one trial in one chart apart", () => {
    const looks = [0, 1, 2, 3, 4].map((nth) => JSON.stringify(lookOf({ id: "x", trialId: 5 }, nth)));
    expect(new Set(looks).size).toBe(5);
    expect(lookOf({ id: "x", trialId: 5 }, 1).colour).toBe(colourOf(5).colour);
  });

  it("names a colour of the theme", () => {
    expect(colourOf(7).colour).toBe("var(--series-7)");
    expect(colourOf(8).colour).toBe("var(--series-0)");
  });
});
