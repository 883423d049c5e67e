import { describe, expect, it } from "vitest";
import { outcomeOf, outcomeText, undoOfRuns } from "./runs";

describe("verbs on many runs", () => {
  const outcome = outcomeOf([
    { id: 1, error: "", changed: true, previousProjectId: 5 },
    { id: 3, error: "", changed: false },
    { id: 2, error: "it has ended" },
  ]);

  it("separates what was done from what could not be", () => {
    expect(outcome.done).toEqual([1, 3]);
    expect(outcome.failed).toEqual([{ id: 2, error: "it has ended" }]);
  });

  it("undoes only what it changed, and moves back to where each was", () => {
    expect(outcome.changed).toEqual([1]);
    expect([...outcome.movedFrom]).toEqual([[5, [1]]]);
  });

  it("says both", () => {
    expect(outcomeText("Paused", outcome)).toBe("Paused 2 trials; 1 could not be: trial 2: it has ended");
    expect(outcomeText("Paused", { done: [1], failed: [] })).toBe("Paused 1 trial");
    const failed = [
      { id: 2, error: "it has ended" },
      { id: 7, error: "it is Bob's" },
      { id: 9, error: "it has ended" },
    ];
    expect(outcomeText("Paused", { done: [], failed })).toBe(
      "Paused 0 trials; 3 could not be: trials 2, 9: it has ended; trial 7: it is Bob's",
    );
  });

  it("knows what undoes what", () => {
    expect(undoOfRuns("resume")).toBe("pause");
    expect(undoOfRuns("delete")).toBeNull();
  });
});
