// The job queue: rows in scheduling order, and where a job can move. Pure.
import type { Schemas } from "../../api/schema";

export type Job = Schemas["Job"];
export type Pool = Schemas["ResourcePool"];

export interface QueueRow {
  job: Job;
  isQueued: boolean;
  /** From 1, in its pool; null where the pool has no order. */
  position: number | null;
  /** The jobs before and after it in its pool, where there is an order to change. */
  previous: Job | null;
  next: Job | null;
  first: Job | null;
  /** What of it can be stepped. */
  steps: "priority" | "weight" | null;
}

export const HIGHEST_PRIORITY = 1;
export const LOWEST_PRIORITY = 99;

export function rowsOf(jobs: readonly Schemas["RBACJob"][], pools: readonly Pool[]): QueueRow[] {
  const full = jobs.map((one) => one.full).filter((job) => job !== null && job !== undefined);
  const schedulers = new Map(pools.map((pool) => [pool.name, pool.schedulerType]));
  return full.map((job) => {
    const own = full.filter((other) => other.resourcePool === job.resourcePool);
    const at = own.indexOf(job);
    const scheduler = schedulers.get(job.resourcePool);
    const isOrdered = scheduler === "SCHEDULER_TYPE_PRIORITY";
    return {
      job,
      isQueued: job.summary?.state === "STATE_QUEUED",
      position: isOrdered ? at + 1 : null,
      previous: isOrdered ? (own[at - 1] ?? null) : null,
      next: isOrdered ? (own[at + 1] ?? null) : null,
      first: isOrdered && at > 0 ? (own[0] ?? null) : null,
      steps: stepsOf(job, scheduler),
    };
  });
}

/** The next value when a stepper is pressed; null at the end. */
export function stepped(row: QueueRow, by: 1 | -1): number | null {
  if (row.steps === "priority") {
    const next = (row.job.priority ?? LOWEST_PRIORITY) + by;
    return next >= HIGHEST_PRIORITY && next <= LOWEST_PRIORITY ? next : null;
  }
  if (row.steps === "weight") {
    const weight = row.job.weight ?? 1;
    const next = by > 0 ? weight + (weight < 1 ? 0.1 : 1) : weight - (weight <= 1 ? 0.1 : 1);
    return next > 0.01 ? Number(next.toFixed(2)) : null;
  }
  return null;
}

/** Other pools it could wait in. */
export function otherPools(row: QueueRow, pools: readonly Pool[]): string[] {
  return pools.map((pool) => pool.name).filter((name) => name !== row.job.resourcePool);
}

function stepsOf(job: Job, scheduler: Pool["schedulerType"] | undefined): QueueRow["steps"] {
  if (job.type !== "TYPE_EXPERIMENT") return null;
  if (scheduler === "SCHEDULER_TYPE_PRIORITY") return "priority";
  return scheduler === "SCHEDULER_TYPE_FAIR_SHARE" ? "weight" : null;
}
