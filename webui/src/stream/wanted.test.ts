import { expect, test } from "vitest";
import { signature, subscribeMessage, takes, union, wantedOf } from "./wanted";

test("wishes of several pages become one subscription", () => {
  const merged = union([
    wantedOf({ trials: { experimentIds: [2] }, metrics: { trialIds: [9] } }),
    wantedOf({ trials: { trialIds: [7], experimentIds: [1] }, jobs: true }),
  ]);
  expect(JSON.parse(subscribeMessage(merged, "4", 17, "c"))).toEqual({
    sync_id: "4",
    known: {},
    extended: true,
    epoch: "c",
    subscribe: {
      trials: { since: 17, trial_ids: [7], experiment_ids: [1, 2] },
      metrics: { since: 17, trial_ids: [9] },
      jobs: { since: 17 },
    },
  });
});

test("whoever wants all of a noun makes the filter of the others needless", () => {
  const merged = union([wantedOf({ experiments: [1] }), wantedOf({ experiments: "all", trials: {} })]);
  const { subscribe } = JSON.parse(subscribeMessage(merged, "1", null, ""));
  expect(subscribe).toEqual({ experiments: { since: -1 }, trials: { since: -1 } });
});

test("equal wishes have equal signatures in whatever order they came", () => {
  const one = union([wantedOf({ jobs: true, experiments: [1, 2] })]);
  const other = union([wantedOf({ experiments: [2] }), wantedOf({ experiments: [1], jobs: true })]);
  expect(signature(one)).toBe(signature(other));
  expect(signature(wantedOf({ experiments: [3] }))).not.toBe(signature(wantedOf({ experiments: [4] })));
});

test("an event goes to those who asked for it or for its owner", () => {
  const wanted = wantedOf({ trials: { experimentIds: [1], trialIds: [7] }, metrics: { trialIds: [9] } });
  const row = (experimentId: number) => ({ experimentId });
  expect(takes(wanted, { noun: "trials", id: 3, seq: 1, row: row(1) })).toBe(true);
  expect(takes(wanted, { noun: "trials", id: 7, seq: 1, row: row(5) })).toBe(true);
  expect(takes(wanted, { noun: "trials", id: 3, seq: 1, row: row(5) })).toBe(false);
  expect(takes(wanted, { noun: "trials", id: 3, seq: 0, deleted: true })).toBe(true);
  expect(takes(wanted, { noun: "metrics", id: "9/training", seq: 1, trialId: 9 })).toBe(true);
  expect(takes(wanted, { noun: "metrics", id: "8/training", seq: 1, trialId: 8 })).toBe(false);
  expect(takes(wanted, { noun: "jobs", id: "j", seq: 1 })).toBe(false);
});

test("a list without ids asks for nothing, because the wire would take it for everything", () => {
  expect(wantedOf({ metrics: { trialIds: [] }, trials: { trialIds: [] }, experiments: [] }).size).toBe(0);
  expect([...wantedOf({ trials: {}, metrics: { trialIds: [1] } }).keys()]).toEqual(["trials", "metrics"]);
});
