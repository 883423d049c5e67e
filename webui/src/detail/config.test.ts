import { describe, expect, it } from "vitest";
import { continuedFrom, isSingleTrial, isSmallerBetter, restartWords, searcherMetric, slotsPerTrial } from "./config";

const SEARCH = { searcher: { name: "adaptive_asha", metric: "acc", smaller_is_better: false, max_trials: 16 } };

describe("configuration", () => {
  it("tells the searcher's metric and direction", () => {
    expect(searcherMetric(SEARCH)).toBe("acc");
    expect(isSmallerBetter(SEARCH)).toBe(false);
    expect(isSmallerBetter({})).toBe(true);
  });

  it("knows experiments that are one trial", () => {
    expect(isSingleTrial({ searcher: { name: "single" } }, 1, false)).toBe(true);
    expect(isSingleTrial(SEARCH, 1, false)).toBe(false);
    expect(isSingleTrial({}, 1, true)).toBe(true);
    expect(isSingleTrial({}, 2, true)).toBe(false);
  });

  it("reads resources and origin", () => {
    expect(slotsPerTrial({ resources: { slots_per_trial: 8 } })).toBe(8);
    expect(continuedFrom({ searcher: { source_trial_id: 7 } })).toBe(7);
    expect(continuedFrom({})).toBeNull();
  });
});

it("never tells more restarts than there may be", () => {
  expect([restartWords(1, 0), restartWords(2, 5), restartWords(3, null)]).toEqual([
    "0 of 0 allowed",
    "2 of 5 allowed",
    "3",
  ]);
});
