// Rows of the queue and what can be done to them.
import { expect, test } from "vitest";
import { type Job, otherPools, type Pool, rowsOf, stepped } from "./queue";

const job = (jobId: string, changes: Partial<Job> = {}): { full: Job } => ({
  full: {
    jobId,
    name: jobId,
    entityId: "1",
    type: "TYPE_EXPERIMENT",
    username: "u",
    resourcePool: "gpu",
    requestedSlots: 1,
    allocatedSlots: 0,
    isPreemptible: true,
    submissionTime: "",
    workspaceId: 1,
    priority: 42,
    weight: 1,
    summary: { jobsAhead: 0, state: "STATE_QUEUED" },
    ...changes,
  },
});
const pools = [
  { name: "gpu", schedulerType: "SCHEDULER_TYPE_PRIORITY" },
  { name: "fair", schedulerType: "SCHEDULER_TYPE_FAIR_SHARE" },
] as Pool[];

test("neighbours are of the same pool, and the first has nobody to overtake", () => {
  const rows = rowsOf([job("a"), job("x", { resourcePool: "fair" }), job("b"), { full: null }], pools);
  expect(rows.map((row) => row.job.jobId)).toEqual(["a", "x", "b"]);
  expect(rows[0]).toMatchObject({ position: 1, previous: null, first: null });
  expect(rows[2]).toMatchObject({ position: 2, next: null });
  expect(rows[2]?.previous?.jobId).toBe("a");
  expect(rows[1]).toMatchObject({ position: null, previous: null, next: null, steps: "weight" });
});

test("priority steps by one within its bounds", () => {
  const [row] = rowsOf([job("a", { priority: 99 })], pools);
  if (!row) throw new Error("no row");
  expect(stepped(row, 1)).toBeNull();
  expect(stepped(row, -1)).toBe(98);
});

test("weight steps finer below one and never reaches nothing", () => {
  const of = (weight: number) => rowsOf([job("a", { resourcePool: "fair", weight })], pools)[0];
  const up = of(0.9);
  const low = of(0.1);
  const one = of(2);
  if (!up || !low || !one) throw new Error("no row");
  expect(stepped(up, 1)).toBe(1);
  expect(stepped(low, -1)).toBeNull();
  expect(stepped(one, -1)).toBe(1);
});

test("a notebook keeps its place, and other pools are named", () => {
  const [row] = rowsOf([job("n", { type: "TYPE_NOTEBOOK" })], pools);
  if (!row) throw new Error("no row");
  expect(row.steps).toBeNull();
  expect(otherPools(row, pools)).toEqual(["fair"]);
});
