import { expect, test } from "vitest";
import { patched, touches } from "./touched";

const TRIAL = {
  noun: "trials",
  id: 7,
  seq: 3,
  row: { id: 7, experimentId: 2, state: "STATE_COMPLETED", seq: 3 },
} as const;
const ONE = "getTrial";

test("an answer about one thing is old only when that thing changed", () => {
  expect(touches(ONE, { path: { trial_id: 7 } }, TRIAL)).toBe(true);
  expect(touches(ONE, { path: { trial_id: "7" } }, TRIAL)).toBe(true);
  expect(touches(ONE, { path: { trial_id: 8 } }, TRIAL)).toBe(false);
  expect(touches(ONE, { path: { trial_id: 8 } }, { noun: "trials", id: "*", seq: 0, reset: true })).toBe(true);
  expect(touches("listTrials", { path: { experiment_id: 2 } }, TRIAL)).toBe(true);
  expect(touches("listTrials", { path: { experiment_id: 3 } }, TRIAL)).toBe(false);
  expect(touches("listUsers", undefined, TRIAL)).toBe(false);
});

test("a tick touches the charts that show its series", () => {
  const tick = { noun: "metrics", id: "7/training", seq: 4, trialId: 7, group: "training", lastBatch: 9 } as const;
  const chart = (query: Record<string, unknown>) => touches("compareTrials", { query }, tick);
  expect(chart({ trialIds: [6, 7], metricIds: ["training.loss"] })).toBe(true);
  expect(chart({ trialIds: [6], metricIds: ["training.loss"] })).toBe(false);
  expect(chart({ trialIds: [7], metricIds: ["validation.loss"] })).toBe(false);
  expect(chart({ trialIds: 7, metricNames: ["loss"], group: "validation" })).toBe(false);
  expect(chart({ trialIds: 7, metricNames: ["loss"] })).toBe(true);
});

test("what an event says is put into the answer at once, and only what it says", () => {
  const data = { trial: { id: 7, state: "STATE_RUNNING", hparams: { lr: 1 } } };
  expect(patched(ONE, data, TRIAL)).toEqual({ trial: { id: 7, state: "STATE_COMPLETED", hparams: { lr: 1 } } });
  expect(patched(ONE, { trial: { id: 8 } }, TRIAL)).toBeUndefined();
  expect(patched("getExperiment", { experiment: { id: 7 } }, TRIAL)).toBeUndefined();
  expect(patched(ONE, undefined, TRIAL)).toBeUndefined();
});

test("a list of tasks is old when one of its tasks or one of its users' tasks changed", () => {
  const event = { noun: "tasks", id: "a", seq: 5, row: { id: "a", userId: 3 } } as const;
  const list = (query: Record<string, unknown>) => touches("searchTasks", { query }, event);
  expect(list({})).toBe(true);
  expect(list({ userIds: [3] })).toBe(true);
  expect(list({ userIds: [4] })).toBe(false);
  expect(list({ taskIds: ["b"] })).toBe(false);
  expect(list({ taskIds: ["a"] })).toBe(true);
  expect(touches("searchTasks", { query: { userIds: [4] } }, { noun: "tasks", id: "a", seq: 6, deleted: true })).toBe(
    true,
  );
});
