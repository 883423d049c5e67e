import { describe, expect, it } from "vitest";
import { neighboursOf } from "./neighboursOf";

describe("neighbours of a trial", () => {
  it("are the next ids in either direction", () => {
    expect(neighboursOf([7, 3, 5], 5)).toEqual({ before: 3, after: 7 });
    expect(neighboursOf([7, 3, 5], 3)).toEqual({ before: null, after: 5 });
    expect(neighboursOf([], 3)).toEqual({ before: null, after: null });
  });
});
