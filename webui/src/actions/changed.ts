// What pages show of experiments and trials, and therefore must be read again after something was done to one.

import type { Operations, Schemas } from "../api/schema";

export type Experiment = Schemas["Experiment"];

export const CHANGED: (keyof Operations)[] = [
  "getExperiment",
  "listTrials",
  "getTrial",
  "listJobsV2",
  "searchExperiments",
  "searchRuns",
];
