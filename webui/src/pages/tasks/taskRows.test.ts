// Tasks as rows: order, filters, links.
import { expect, test } from "vitest";
import { kindOf, matching, rowsOf, type Task } from "./taskRows";

const trial: Task = {
  allocationId: "2.x.1",
  taskId: "2.x",
  name: "Trial 7 (Experiment 2)",
  taskType: "TASK_TYPE_TRIAL",
  state: "STATE_QUEUED",
  experimentId: 2,
  trialId: 7,
  username: "ada",
  resourcePool: "gpu",
  registeredTime: "2026-11-15T10:00:00Z",
};
const gc: Task = {
  allocationId: "g.1",
  taskId: "g",
  name: "Checkpoint GC (Experiment 2)",
  taskType: "TASK_TYPE_CHECKPOINT_GC",
  state: "STATE_RUNNING",
  experimentId: 2,
  username: "ada",
  resourcePool: "aux",
  registeredTime: "2026-11-15T09:00:00Z",
  resources: [{ agentDevices: { "node-a": { devices: [] } } }],
};

test("running tasks come first, and each leads to its page and its log", () => {
  const rows = rowsOf({ a: trial, b: gc });
  expect(rows.map(({ taskId }) => taskId)).toEqual(["g", "2.x"]);
  expect(rows[1]).toMatchObject({ href: "/experiments/2/trials/7", logs: "/experiments/2/trials/7/logs", trialId: 7 });
  expect(rows[0]).toMatchObject({ href: null, logs: "/checkpoint-gc/g/logs", agents: ["node-a"], trialId: null });
});

test("words and kinds narrow the list", () => {
  const rows = rowsOf({ a: trial, b: gc });
  expect(matching(rows, [], "ADA gpu").map(({ taskId }) => taskId)).toEqual(["2.x"]);
  expect(matching(rows, ["checkpoint gc"], "").map(({ taskId }) => taskId)).toEqual(["g"]);
  expect(matching(rows, ["shell"], "")).toEqual([]);
});

test("an unknown kind is told as such", () => {
  expect(kindOf("TASK_TYPE_NOVELTY")).toBe("other");
  expect(kindOf(null)).toBe("other");
});
