// Which place of the rail a path belongs to.
import { expect, test } from "vitest";
import { CLUSTER, EXPERIMENTS, HOME, isIn } from "./places";

test("a trial's page belongs to the experiments", () => {
  expect(isIn(EXPERIMENTS, "/experiments/4/trials/9/logs")).toBe(true);
  expect(isIn(EXPERIMENTS, "/projects/7/runs")).toBe(true);
  expect(isIn(HOME, "/experiments/4")).toBe(false);
});

test("a pool belongs to the cluster and a longer word does not", () => {
  expect(isIn(CLUSTER, "/resourcepool/gpu")).toBe(true);
  expect(isIn(CLUSTER, "/clustersandmore")).toBe(false);
});
