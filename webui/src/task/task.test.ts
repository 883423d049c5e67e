// Kinds, states, what can be opened and what killing says.
import { expect, test } from "vitest";
import { killedText, killTasks } from "./killing";
import { kindOf, logOf, pageOf, shownState, type Task } from "./kinds";
import { openingOf } from "./opening";

const notebook: Task = {
  taskId: "a-1",
  taskType: "TASK_TYPE_NOTEBOOK",
  name: "JupyterLab (x-y-z)",
  state: "STATE_RUNNING",
  isReady: true,
  hasFailed: false,
  exitStatus: "",
  jobId: "j",
  userId: 3,
  username: "ada",
  workspaceId: 1,
  workspaceName: "Uncategorized",
  resourcePool: "default",
  slots: 1,
  priority: 42,
  startTime: "2026-11-15T10:00:00Z",
  serviceAddress: "/proxy/a-1/",
};
const ended = { ...notebook, state: "STATE_TERMINATED" as const, isReady: false, endTime: "2026-11-15T11:00:00Z" };

test("a task has a page, a trial has its own", () => {
  expect([pageOf(notebook), logOf(notebook)]).toEqual(["/tasks/a-1", "/tasks/a-1/logs"]);
  const trial: Task = { ...notebook, taskType: "TASK_TYPE_TRIAL", experimentId: 2, trialId: 7 };
  expect(logOf(trial)).toBe("/experiments/2/trials/7/logs");
  expect(kindOf(trial.taskType)).toBe("trial");
});

test("an ended task says how it ended, a generic one what became of it", () => {
  expect(shownState(notebook)).toEqual({ state: "STATE_RUNNING" });
  expect(shownState(ended).word).toBe("Ended");
  expect(shownState({ ...ended, hasFailed: true }).word).toBe("Failed");
  const paused: Task = { ...ended, taskType: "TASK_TYPE_GENERIC", taskState: "GENERIC_TASK_STATE_PAUSED" };
  expect(shownState(paused)).toEqual({ state: "GENERIC_TASK_STATE_PAUSED" });
});

test("a page opens when it answers and one may see it, and otherwise says why not", () => {
  expect(openingOf(notebook, true)).toEqual({ href: "/proxy/a-1/", refusal: null });
  expect(openingOf({ ...notebook, isReady: false, state: "STATE_STARTING" }, true)?.refusal).toMatch(/is starting/);
  expect(openingOf(notebook, false)?.refusal).toBe("Only ada and administrators may open it.");
  expect(openingOf(ended, true)?.refusal).toBe("The notebook has ended.");
  expect(openingOf({ ...notebook, serviceAddress: null }, true)).toBeNull();
});

test("one that cannot be killed does not stop the others, and is named", async () => {
  const tasks = ["x", "y", "z"].map((name) => ({ ...notebook, name }));
  const killed = await killTasks(tasks, async ({ name }) => {
    if (name === "y") throw new Error("not yours");
  });
  expect(killed).toEqual({ done: 2, failed: [{ name: "y", error: "not yours" }] });
  expect(killedText(killed)).toBe("Killed 2 tasks; 1 could not be: y: not yours");
  expect(killedText({ done: 1, failed: [] })).toBe("Killed 1 task");
});
