// Whether the page of a notebook or TensorBoard can be opened now, and why not. Pure.
import { stateOf } from "../ui/state";
import { hasEnded, kindOf, type Task, WORDS } from "./kinds";

export interface Opening {
  /** Outside of this page's addresses. */
  href: string;
  /** Null: it can be opened. */
  refusal: string | null;
}

/** Null for a task without a page of its own. */
export function openingOf(task: Task, mayOpen: boolean): Opening | null {
  const { serviceAddress } = task;
  if (!serviceAddress) return null;
  return { href: serviceAddress, refusal: refusalOf(task, mayOpen) };
}

function refusalOf(task: Task, mayOpen: boolean): string | null {
  const word = WORDS[kindOf(task.taskType)];
  if (hasEnded(task)) return `The ${word} has ended.`;
  if (!mayOpen) return `Only ${task.username} and administrators may open it.`;
  if (task.isReady) return null;
  return `The ${word} is ${stateOf(task.state).word.toLowerCase()}; it can be opened when it answers.`;
}
