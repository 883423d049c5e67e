// Which charts there are for several trials, and what is said when not all are drawn.
import { expect, test } from "vitest";
import { cappedNote, sharedMetrics } from "./trials";

const entry = { last: 1, count: 1, type: "number" };

test("metrics of any trial are drawn, validation and common ones first", () => {
  const trials = [
    { id: 1, name: "a", summary: { avg_metrics: { loss: entry }, validation_metrics: { acc: entry } } },
    {
      id: 2,
      name: "b",
      summary: { avg_metrics: { loss: entry, aux: entry }, validation_metrics: { best: entry, acc: entry } },
    },
  ];
  expect(sharedMetrics(trials).map((one) => `${one.group}.${one.name}`)).toEqual([
    "validation.acc",
    "validation.best",
    "training.loss",
    "training.aux",
  ]);
});

test("a chart says when it leaves trials out", () => {
  expect(cappedNote(50, 120)).toBe("Showing 50 of 120 trials.");
  expect(cappedNote(3, 3)).toBeUndefined();
});
