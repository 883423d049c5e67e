// Live tasks as rows, the running ones first. Pure.
import type { Schemas } from "../../api/schema";

export type Task = Schemas["AllocationSummary"];
export type TaskKind =
  | "trial"
  | "notebook"
  | "shell"
  | "command"
  | "tensorboard"
  | "checkpoint gc"
  | "generic"
  | "other";

export interface TaskRow {
  key: string;
  taskId: string;
  name: string;
  kind: TaskKind;
  state: string;
  username: string;
  pool: string;
  slots: number;
  since: string | null;
  agents: string[];
  /** The page of what it works for. */
  href: string | null;
  logs: string;
  /** A trial can be killed from here; its own record decides what else can. */
  trialId: number | null;
}

export const KINDS: readonly TaskKind[] = [
  "trial",
  "notebook",
  "shell",
  "command",
  "tensorboard",
  "generic",
  "checkpoint gc",
];

export function rowsOf(summaries: Record<string, Task> | null | undefined): TaskRow[] {
  return Object.values(summaries ?? {})
    .map(rowOf)
    .sort((a, b) => rank(a) - rank(b) || ((a.since ?? "") < (b.since ?? "") ? 1 : -1));
}

/** By kind (all when none is chosen) and by words in name, user, pool or id. */
export function matching(rows: readonly TaskRow[], kinds: readonly string[], text: string): TaskRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    const all = `${row.name} ${row.username} ${row.pool} ${row.taskId} ${row.kind}`.toLowerCase();
    return (kinds.length === 0 || kinds.includes(row.kind)) && words.every((word) => all.includes(word));
  });
}

export function kindOf(type: string | null | undefined): TaskKind {
  const name = (type ?? "").replace("TASK_TYPE_", "").toLowerCase().replaceAll("_", " ");
  return KINDS.find((kind) => kind === name) ?? "other";
}

function rowOf(task: Task): TaskRow {
  const { taskId = "", experimentId, trialId } = task;
  const isTrial = Boolean(experimentId && trialId);
  const page = isTrial ? `/experiments/${experimentId}/trials/${trialId}` : null;
  return {
    key: task.allocationId ?? taskId ?? "",
    taskId: taskId ?? "",
    name: task.name ?? taskId ?? "",
    kind: kindOf(task.taskType),
    state: task.state ?? "STATE_UNSPECIFIED",
    username: task.username ?? "",
    pool: task.resourcePool ?? "",
    slots: task.slotsNeeded ?? 0,
    since: task.registeredTime ?? null,
    agents: [...new Set((task.resources ?? []).flatMap((part) => Object.keys(part.agentDevices ?? {})))],
    href: page,
    logs: page
      ? `${page}/logs`
      : `/${kindOf(task.taskType).replaceAll(" ", "-")}/${encodeURIComponent(taskId ?? "")}/logs`,
    trialId: trialId ?? null,
  };
}

function rank({ state }: TaskRow): number {
  return ["STATE_RUNNING", "STATE_STARTING", "STATE_PULLING"].includes(state) ? 0 : 1;
}
