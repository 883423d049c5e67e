// What pages show of experiments and trials, and therefore must be read again after something was done to one.

import type { Paths, Schemas } from "../api/schema";

export type Experiment = Schemas["Experiment"];

export const CHANGED: (keyof Paths)[] = [
  "GET /api/v1/experiments/{experiment_id}",
  "GET /api/v1/experiments/{experiment_id}/trials",
  "GET /api/v1/trials/{trial_id}",
  "GET /api/v1/job-queues-v2",
  "POST /api/v1/experiments-search",
  "POST /api/v1/runs",
];
