// Which cached answers of the REST API an event makes old, and what of it can be put into them at once.
import type { Operations, StreamRows } from "../api/schema";
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
  <N extends keyof StreamRows>(_noun: N, name: string, field: keyof StreamRows[N] & string): Rule =>
  (asked, event) =>
    event.row === undefined || same(asked.path?.[name], event.row[field]);

// The grid of runs (`searchRuns`) is not here: rows must not move under the pointer, so its page decides when.
const RULES: Record<Noun, Partial<Record<keyof Operations, Rule>>> = {
  experiments: {
    getExperiment: own("experiment_id"),
    listExperiments: always,
    searchExperiments: always,
  },
  trials: {
    getTrial: own("trial_id"),
    listTrialWorkloads: own("trial_id"),
    getExperiment: owner("trials", "experiment_id", "experimentId"),
    listTrials: owner("trials", "experiment_id", "experimentId"),
    getValidationHistory: owner("trials", "experiment_id", "experimentId"),
  },
  checkpoints: {
    getCheckpoint: own("checkpoint_uuid"),
    listExperimentCheckpoints: owner("checkpoints", "experiment_id", "experimentId"),
    listTrialCheckpoints: owner("checkpoints", "trial_id", "trialId"),
  },
  metrics: {
    compareTrials: drawn,
    getMetricSeries: (asked, event) => same(asked.path?.trial_id, event.trialId),
    listTrialWorkloads: (asked, event) => same(asked.path?.trial_id, event.trialId),
  },
  tasks: {
    getTask: own("task_id"),
    getCommand: own("task_id"),
    getNotebook: own("task_id"),
    getShell: own("task_id"),
    getTensorboard: own("task_id"),
    getGenericTaskConfig: own("task_id"),
    searchTasks: listed,
    listTasks: always,
    countTasks: always,
  },
  jobs: {
    listJobs: always,
    listJobsV2: always,
    getJobQueueStats: always,
    listPools: always,
  },
  agents: {
    listAgents: always,
    getAgent: own("agent_id"),
    listPools: always,
  },
  projects: {
    getProject: own("project_id"),
    listProjects: always,
    listRecentProjects: always,
  },
  models: {
    getModel: always,
    listModelAliases: always,
    listModelAliasHistory: always,
    listModelLabels: always,
    listModels: always,
  },
  modelversions: {
    getModel: always,
    getModelVersion: always,
    listCheckpointVersions: always,
    listModels: always,
    listModelVersions: always,
  },
};

/** Answers that hold one thing: where in them it is, and which columns of the event say the same there. */
interface Holder {
  noun: Noun;
  field: string;
  columns: readonly string[];
}

const HOLDERS: Partial<Record<keyof Operations, Holder>> = {
  getExperiment: holder("experiments", "experiment", ["state", "name", "progress", "archived", "projectId", "endTime"]),
  getTrial: holder("trials", "trial", [
    "state",
    "restarts",
    "totalBatchesProcessed",
    "searcherMetricValue",
    "checkpointCount",
    "runnerState",
    "endTime",
  ]),
};

/** Columns of events that nothing changes once the row is there. */
type Fixed = "id" | "seq" | "experimentId" | "userId" | "jobId" | "startTime";

/** Does not compile while a streamed column is neither among `columns` nor fixed: the page would show it only after a reload. */
function holder<N extends Noun & keyof StreamRows, C extends keyof StreamRows[N] & string>(
  noun: N,
  field: string,
  columns: [Exclude<keyof StreamRows[N], C | Fixed>] extends [never] ? readonly C[] : never,
): Holder {
  return { noun, field, columns };
}

export function touches(op: string, asked: Asked | undefined, event: StreamEvent): boolean {
  const rule = RULES[event.noun]?.[op as keyof Operations];
  if (!rule) return false;
  return event.reset === true || rule(asked ?? {}, event);
}

/** The answer with what the event says put in; undefined when there is nothing to put in. */
export function patched(op: string, data: unknown, event: StreamEvent): unknown {
  const holder = HOLDERS[op as keyof Operations];
  if (!holder || !event.row || event.noun !== holder.noun || typeof data !== "object" || data === null)
    return undefined;
  const { row } = event;
  const thing = (data as Record<string, unknown>)[holder.field];
  if (typeof thing !== "object" || thing === null || !same((thing as { id?: unknown }).id, event.id)) return undefined;
  const changes = Object.fromEntries(holder.columns.filter((name) => name in row).map((name) => [name, row[name]]));
  return { ...data, [holder.field]: { ...thing, ...changes } };
}

/** A list of these tasks, or of tasks of these users. Deletions do not say whose they were. */
function listed(asked: Asked, { id, row }: StreamEvent): boolean {
  const { taskIds, userIds } = asked.query ?? {};
  if (several(taskIds).length > 0) return several(taskIds).some((one) => same(one, id));
  return row === undefined || several(userIds).length === 0 || several(userIds).some((one) => same(one, row.userId));
}

/** A chart of these trials that shows a metric of this group. */
function drawn(asked: Asked, event: StreamEvent): boolean {
  const { trialIds, metricIds, metricNames, group } = asked.query ?? {};
  if (!several(trialIds).some((id) => same(id, event.trialId))) return false;
  if (several(metricNames).length > 0) return group === undefined || group === null || group === event.group;
  return several(metricIds).some((id) => String(id).startsWith(`${event.group}.`));
}

function several(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** Ids come from addresses as text and from the wire as numbers. */
function same(a: unknown, b: unknown): boolean {
  return a !== undefined && a !== null && String(a) === String(b);
}
