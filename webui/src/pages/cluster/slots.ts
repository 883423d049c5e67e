// What every slot of an agent does, and for whom. Pure.
import type { Schemas } from "../../api/schema";

export type Agent = Schemas["Agent"];
export type Task = Schemas["AllocationSummary"];

export type SlotKind = "free" | "starting" | "running" | "draining" | "disabled";

export interface SlotView {
  id: string;
  kind: SlotKind;
  /** "slot 3 of node-a: running Trial 7 (Experiment 2)" */
  words: string;
  /** The trial's page, where it runs one. */
  href: string | null;
}

export const GLYPHS: Record<SlotKind, string> = {
  free: "·",
  starting: "◔",
  running: "▶",
  draining: "❚❚",
  disabled: "✕",
};

export const WORDS: Record<SlotKind, string> = {
  free: "free",
  starting: "starting",
  running: "running",
  draining: "draining",
  disabled: "disabled",
};

/** `tasks` null: they are not known yet. */
export function slotsOf(agent: Agent, tasks: ReadonlyMap<string, Task> | null): SlotView[] {
  return Object.values(agent.slots ?? {})
    .sort((a, b) => Number(a.id) - Number(b.id))
    .map((slot) => {
      const task = slot.container ? tasks?.get(slot.container.id) : undefined;
      const kind = kindOf(slot);
      const name = task?.name ?? (slot.container ? (tasks ? "a task of another user" : "a task") : "");
      return { id: slot.id ?? "", kind, words: wordsOf(agent, slot, kind, name), href: task ? hrefOf(task) : null };
    });
}

/** Which task a container belongs to. */
export function tasksByContainer(summaries: Record<string, Task> | null | undefined): Map<string, Task> {
  const found = new Map<string, Task>();
  for (const task of Object.values(summaries ?? {})) {
    for (const part of task.resources ?? []) {
      if (part.containerId) found.set(part.containerId, task);
    }
  }
  return found;
}

export function countKinds(slots: readonly SlotView[]): Record<SlotKind, number> {
  const counts: Record<SlotKind, number> = { free: 0, starting: 0, running: 0, draining: 0, disabled: 0 };
  for (const slot of slots) counts[slot.kind] += 1;
  return counts;
}

/** Tasks on this agent that hold no slot. */
export function withoutSlots(agent: Agent): number {
  return Object.values(agent.containers ?? {}).filter((container) => (container.devices ?? []).length === 0).length;
}

export function hrefOf(task: Task): string | null {
  if (task.experimentId && task.trialId) return `/experiments/${task.experimentId}/trials/${task.trialId}`;
  return task.taskId ? `/task/${encodeURIComponent(task.taskId)}/logs` : null;
}

function kindOf(slot: Schemas["Slot"]): SlotKind {
  if (slot.container) {
    if (slot.draining || slot.enabled === false) return "draining";
    return slot.container.state === "STATE_RUNNING" ? "running" : "starting";
  }
  return slot.enabled === false || slot.draining ? "disabled" : "free";
}

function wordsOf(agent: Agent, slot: Schemas["Slot"], kind: SlotKind, name: string): string {
  const device = slot.device?.brand ? ` (${slot.device.brand})` : "";
  const what = kind === "draining" ? "disabled as soon as it ends:" : WORDS[kind];
  return `Slot ${slot.id ?? "?"} of ${agent.id}${device}: ${what}${name === "" ? "" : ` ${name}`}`;
}
