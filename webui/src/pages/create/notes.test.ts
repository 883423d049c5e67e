// What is said besides the plan.
import { expect, test } from "vitest";
import { goingOn, notesFor } from "./notes";

const trial = { id: 4, state: "STATE_COMPLETED", totalBatchesProcessed: 1000, checkpointCount: 1 };

test("a search in which nothing varies is told, one with a range is not", () => {
  const of = (lr: unknown) =>
    notesFor({ mode: "hpsearch", object: { hyperparameters: { lr } }, base: null, hasCode: false });
  expect(of(0.1)[0]).toContain("No hyperparameter varies");
  expect(of({ type: "double", minval: 0, maxval: 1 })).toEqual([]);
});

test("continuing without a change is told, and what it cannot take out", () => {
  const base = { name: "x", searcher: { max_length: 1 } };
  const of = (object: Record<string, unknown>, trialState = "STATE_COMPLETED") =>
    notesFor({ mode: "continue", object, base, hasCode: false, trialState });
  expect(of(base)[0]).toContain("nothing left to do");
  expect(of(base, "STATE_ERROR")[0]).toContain("fails again unless");
  expect(of(base, "STATE_CANCELED")).toEqual([]);
  expect(of({ ...base, searcher: { max_length: 2 } })).toEqual([]);
  expect(of({ searcher: { max_length: 2 } })).toEqual(["Continuing keeps what is taken out of the text: name."]);
});

test("a new experiment without code is told", () => {
  expect(notesFor({ mode: "new", object: {}, base: null, hasCode: false })[0]).toContain("No code");
  expect(notesFor({ mode: "new", object: {}, base: null, hasCode: true })).toEqual([]);
});

test("continuing says how far the trial is and where it goes", () => {
  expect(goingOn(trial, { searcher: { max_length: { batches: 3000 } } })).toBe(
    "Trial 4 (completed) has trained 1,000 batches and goes on to 3,000 batches.",
  );
  expect(goingOn(trial, { searcher: { max_length: 7 } })).toContain("goes on to 7.");
  expect(goingOn(trial, {})).toContain("from its latest checkpoint");
});

test("a trial without a checkpoint does not go on, it starts over", () => {
  for (const checkpointCount of [0, null, undefined]) {
    const said = goingOn({ ...trial, checkpointCount }, { searcher: { max_length: { batches: 3000 } } });
    expect(said).toBe("Trial 4 (completed) has trained 1,000 batches, saved no checkpoint and starts over.");
  }
});
