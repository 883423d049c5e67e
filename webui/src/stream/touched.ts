// Which cached answers of the REST API an event makes old, and what of it can be put into them at once.
import type { Noun, StreamEvent } from "./types";

export interface Asked {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
}

/** Is the answer to this request older than the event? */
type Rule = (asked: Asked, event: StreamEvent) => boolean;

const always: Rule = () => true;
const own =
  (name: string): Rule =>
  (asked, event) =>
    same(asked.path?.[name], event.id);
/** Deletions do not say whose they were. */
const owner =
  (name: string, field: string): Rule =>
  (asked, event) =>
    event.row === undefined || same(asked.path?.[name], event.row[field]);

// The grid of runs ("POST /api/v1/runs") is not here: rows must not move under the pointer, so its page decides when.
const RULES: Record<Noun, Record<string, Rule>> = {
  experiments: {
    "GET /api/v1/experiments/{experiment_id}": own("experiment_id"),
    "GET /api/v1/experiments": always,
    "GET /api/v1/experiments-search": always,
    "POST /api/v1/experiments-search": always,
  },
  trials: {
    "GET /api/v1/trials/{trial_id}": own("trial_id"),
    "GET /api/v1/trials/{trial_id}/workloads": own("trial_id"),
    "GET /api/v1/experiments/{experiment_id}": owner("experiment_id", "experimentId"),
    "GET /api/v1/experiments/{experiment_id}/trials": owner("experiment_id", "experimentId"),
    "GET /api/v1/experiments/{experiment_id}/validation-history": owner("experiment_id", "experimentId"),
  },
  checkpoints: {
    "GET /api/v1/checkpoints/{checkpoint_uuid}": own("checkpoint_uuid"),
    "GET /api/v1/experiments/{experiment_id}/checkpoints": owner("experiment_id", "experimentId"),
    "GET /api/v1/trials/{trial_id}/checkpoints": owner("trial_id", "trialId"),
  },
  metrics: {
    "GET /api/v1/trials/time-series": drawn,
    "GET /api/v1/trials/{trial_id}/metrics/series": (asked, event) => same(asked.path?.trial_id, event.trialId),
    "GET /api/v1/trials/{trial_id}/workloads": (asked, event) => same(asked.path?.trial_id, event.trialId),
  },
  tasks: {
    "GET /api/v1/tasks/{task_id}": own("task_id"),
    "GET /api/v1/tasks": always,
    "GET /api/v1/tasks/count": always,
    "GET /api/v1/notebooks": always,
    "GET /api/v1/tensorboards": always,
    "GET /api/v1/shells": always,
    "GET /api/v1/commands": always,
  },
  jobs: {
    "GET /api/v1/job-queues": always,
    "GET /api/v1/job-queues-v2": always,
    "GET /api/v1/job-queues/stats": always,
    "GET /api/v1/resource-pools": always,
  },
  agents: {
    "GET /api/v1/agents": always,
    "GET /api/v1/agents/{agent_id}": own("agent_id"),
    "GET /api/v1/resource-pools": always,
  },
  projects: {
    "GET /api/v1/projects/{project_id}": own("project_id"),
    "GET /api/v1/workspaces/{workspace_id}/projects": always,
    "GET /api/v1/user/projects/activity": always,
  },
};

/** Answers that hold one thing: where in them it is, and which columns of the event say the same there. */
const HOLDERS: Record<string, { noun: Noun; field: string; columns: readonly string[] }> = {
  "GET /api/v1/experiments/{experiment_id}": {
    noun: "experiments",
    field: "experiment",
    columns: ["state", "name", "progress", "archived", "projectId", "endTime"],
  },
  "GET /api/v1/trials/{trial_id}": {
    noun: "trials",
    field: "trial",
    columns: [
      "state",
      "restarts",
      "totalBatchesProcessed",
      "searcherMetricValue",
      "checkpointCount",
      "runnerState",
      "endTime",
    ],
  },
};

export function touches(op: string, asked: Asked | undefined, event: StreamEvent): boolean {
  const rule = RULES[event.noun]?.[op];
  if (!rule) return false;
  return event.reset === true || rule(asked ?? {}, event);
}

/** The answer with what the event says put in; undefined when there is nothing to put in. */
export function patched(op: string, data: unknown, event: StreamEvent): unknown {
  const holder = HOLDERS[op];
  if (!holder || !event.row || event.noun !== holder.noun || typeof data !== "object" || data === null)
    return undefined;
  const { row } = event;
  const thing = (data as Record<string, unknown>)[holder.field];
  if (typeof thing !== "object" || thing === null || !same((thing as { id?: unknown }).id, event.id)) return undefined;
  const changes = Object.fromEntries(holder.columns.filter((name) => name in row).map((name) => [name, row[name]]));
  return { ...data, [holder.field]: { ...thing, ...changes } };
}

/** A chart of these trials that shows a metric of this group. */
function drawn(asked: Asked, event: StreamEvent): boolean {
  const { trialIds, metricIds, metricNames, group } = asked.query ?? {};
  if (!listed(trialIds).some((id) => same(id, event.trialId))) return false;
  if (listed(metricNames).length > 0) return group === undefined || group === null || group === event.group;
  return listed(metricIds).some((id) => String(id).startsWith(`${event.group}.`));
}

function listed(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** Ids come from addresses as text and from the wire as numbers. */
function same(a: unknown, b: unknown): boolean {
  return a !== undefined && a !== null && String(a) === String(b);
}
