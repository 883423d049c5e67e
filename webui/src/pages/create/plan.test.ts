// The words for what a submission would do.
import { expect, test } from "vitest";
import type { DryRun } from "./draft";
import { sizeWords, startWords, templateWords, trialWords } from "./plan";

const run = (changes: Partial<DryRun>): DryRun => ({ text: "", problems: [], ...changes });

test("trials are counted exactly, about, between or not at all", () => {
  const of = (min: number | null, max: number | null, exact: boolean) =>
    trialWords(run({ trials: { min, max, exact }, slotsPerTrial: 2 }));
  expect(of(16, 16, true)).toBe("Creates 16 trials of 2 slots each.");
  expect(of(1, 1, true)).toBe("Creates 1 trial of 2 slots.");
  expect(of(40, 40, false)).toBe("Creates about 40 trials of 2 slots each.");
  expect(of(3, 9, true)).toBe("Creates 3 to 9 trials of 2 slots each.");
  expect(of(null, null, false)).toContain("as many trials as its search program asks for");
  expect(trialWords(run({ trials: { min: 1, max: 1, exact: true }, slotsPerTrial: 0 }))).toBe(
    "Creates 1 trial without slots.",
  );
});

test("the size names training and slots where they are known", () => {
  expect(sizeWords(run({ units: { total: 1600, name: "batches", exact: true }, maxSlots: 8 }))).toBe(
    "Trains 1,600 batches in all, uses at most 8 slots at once.",
  );
  expect(sizeWords(run({}))).toBe("");
});

test("it starts now, or waits for a reason", () => {
  expect(startWords(run({ starts: "now", pool: "gpu" }))).toBe("Starts now in pool gpu.");
  expect(startWords(run({ starts: "waits", reason: "waits for 4 slots" }))).toBe("Waits for 4 slots.");
  expect(startWords(run({ starts: "waits" }))).toContain("busy");
  expect(startWords(run({}))).toBe("");
});

test("what comes from the template is named", () => {
  expect(templateWords(run({}), "gpu")).toBe("");
  expect(templateWords(run({ fromTemplate: ["labels", "resources.priority"] }), "gpu")).toBe(
    "From template gpu: labels, resources.priority.",
  );
  expect(templateWords(run({ fromTemplate: [] }), "gpu")).toContain("is set by this configuration too");
});
