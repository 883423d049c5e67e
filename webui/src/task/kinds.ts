// The kinds of tasks: their words in addresses, lists and sentences. Pure.
import type { Schemas } from "../api/schema";

export type Task = Schemas["ListedTask"];
export type TaskType = Schemas["TaskType"];

/** As in addresses (`?kind=notebook`) and in `det` commands. */
export type TaskKind = "notebook" | "shell" | "command" | "tensorboard" | "generic" | "trial";
/** What can be started from a form of the page. */
export type FormKind = Exclude<TaskKind, "generic" | "trial">;

export const KINDS: readonly TaskKind[] = ["notebook", "shell", "command", "tensorboard", "generic", "trial"];
export const FORM_KINDS: readonly FormKind[] = ["notebook", "shell", "command", "tensorboard"];

/** In lists: "Notebook". */
export const TITLES: Record<TaskKind, string> = {
  notebook: "Notebook",
  shell: "Shell",
  command: "Command",
  tensorboard: "TensorBoard",
  generic: "Generic task",
  trial: "Trial",
};

/** Inside a sentence: "the notebook has ended". */
export const WORDS: Record<TaskKind, string> = {
  notebook: "notebook",
  shell: "shell",
  command: "command",
  tensorboard: "TensorBoard",
  generic: "task",
  trial: "trial",
};

export function typeOf(kind: TaskKind): TaskType {
  return `TASK_TYPE_${kind.toUpperCase()}` as TaskType;
}

export function kindOf(type: TaskType): TaskKind {
  return KINDS.find((kind) => typeOf(kind) === type) ?? "generic";
}

export function isFormKind(word: string): word is FormKind {
  return FORM_KINDS.some((kind) => kind === word);
}

export function hasEnded(task: Pick<Task, "endTime" | "taskState">): boolean {
  // a paused generic task has an end time until it goes on
  return Boolean(task.endTime) && task.taskState !== "GENERIC_TASK_STATE_PAUSED";
}

/** The state to show: an ended task says how it ended, a generic one has states of its own. */
export function shownState(task: Task): { state: string; word?: string } {
  const { taskState } = task;
  if (taskState && taskState !== "GENERIC_TASK_STATE_ACTIVE") return { state: taskState };
  if (!hasEnded(task)) return { state: task.state };
  return task.hasFailed ? { state: "STATE_ERROR", word: "Failed" } : { state: "STATE_TERMINATED", word: "Ended" };
}

/** The page of a task: of a trial, the trial's. */
export function pageOf(task: Task): string {
  const { experimentId, trialId } = task;
  return experimentId && trialId ? `/experiments/${experimentId}/trials/${trialId}` : taskPath(task.taskId);
}

export function logOf(task: Task): string {
  return `${pageOf(task)}/logs`;
}

export function taskPath(taskId: string, tab?: string): string {
  return `/tasks/${encodeURIComponent(taskId)}${tab === undefined ? "" : `/${tab}`}`;
}

/** A TensorBoard reads files; it never gets slots. */
export function hasNoSlots(kind: FormKind): boolean {
  return kind === "tensorboard";
}
