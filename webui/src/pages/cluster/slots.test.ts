// Slots of an agent in words.
import { expect, test } from "vitest";
import { type Agent, countKinds, slotsOf, type Task, tasksByContainer, withoutSlots } from "./slots";

const container = (id: string, state: "STATE_RUNNING" | "STATE_STARTING") => ({ id, state, devices: [{ id: 0 }] });
const agent: Agent = {
  id: "node-a",
  slotStats: { brandStats: {}, typeStats: {} },
  slots: {
    "000": { id: "0", enabled: true, container: container("c1", "STATE_RUNNING"), device: { brand: "A100" } },
    "010": { id: "10", enabled: true },
    "002": { id: "2", enabled: true, container: container("c2", "STATE_STARTING") },
    "003": { id: "3", enabled: false },
    "004": { id: "4", enabled: false, draining: true, container: container("c1", "STATE_RUNNING") },
  },
  containers: { c1: container("c1", "STATE_RUNNING"), c9: { id: "c9", state: "STATE_RUNNING", devices: [] } },
};
const task: Task = {
  name: "Trial 7 (Experiment 2)",
  taskId: "2.x",
  trialId: 7,
  experimentId: 2,
  resources: [{ containerId: "c1" }],
};

test("every slot has a kind, words and the trial it works for, in the order of their numbers", () => {
  const found = slotsOf(agent, tasksByContainer({ a: task }));
  expect(found.map(({ id, kind }) => [id, kind])).toEqual([
    ["0", "running"],
    ["2", "starting"],
    ["3", "disabled"],
    ["4", "draining"],
    ["10", "free"],
  ]);
  expect(found[0]).toMatchObject({
    words: "Slot 0 of node-a (A100): running Trial 7 (Experiment 2)",
    href: "/experiments/2/trials/7",
  });
  expect(found[1]?.words).toBe("Slot 2 of node-a: starting a task of another user");
  expect(found[3]?.words).toBe("Slot 4 of node-a: disabled as soon as it ends: Trial 7 (Experiment 2)");
  expect(countKinds(found)).toEqual({ free: 1, starting: 1, running: 1, draining: 1, disabled: 1 });
});

test("whose a task is, is not said before the tasks are known", () => {
  expect(slotsOf(agent, null)[1]?.words).toBe("Slot 2 of node-a: starting a task");
});

test("tasks that hold no slot are counted by themselves", () => {
  expect(withoutSlots(agent)).toBe(1);
});
