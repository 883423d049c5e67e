// Rows of a table, of trials or of experiments, in one shape, and the value of any column in them. Pure.

import type { Schemas } from "../../api/schema";

export type Kind = "run" | "experiment";

export interface TableRow {
  id: number;
  kind: Kind;
  href: string;
  experimentId: number;
  /** Of an experiment: its best trial. */
  trialId: number | null;
  name: string;
  state: string;
  archived: boolean;
  searcherMetric: string;
  facts: Readonly<Record<string, unknown>>;
  hparams: Readonly<Record<string, unknown>>;
  metadata: Readonly<Record<string, unknown>>;
  summary: Readonly<Record<string, unknown>>;
  userId: number | null;
}

type Run = Schemas["FlatRun"];
type Found = Schemas["SearchExperimentExperiment"];

const GROUPS: Record<string, string> = { training: "avg_metrics", validation: "validation_metrics" };
const STATISTIC = /^([^.]+)\.(.+)\.(last|min|max|mean|sum|count)$/;

export function rowOfRun(run: Run): TableRow {
  const experiment = run.experiment;
  return {
    id: run.id,
    kind: "run",
    href: `/experiments/${experiment?.id ?? 0}/trials/${run.id}`,
    experimentId: experiment?.id ?? 0,
    trialId: run.id,
    name: experiment?.name ?? "",
    state: run.shownState ?? run.state,
    archived: run.archived,
    searcherMetric: experiment?.searcherMetric ?? "",
    hparams: run.hyperparameters ?? {},
    metadata: run.metadata ?? {},
    summary: run.summaryMetrics ?? {},
    userId: run.userId ?? null,
    facts: {
      ...run,
      tags: run.labels,
      experimentName: experiment?.name,
      experimentId: experiment?.id,
      experimentDescription: experiment?.description,
      experimentProgress: experiment?.progress,
      searcherType: experiment?.searcherType,
      searcherMetric: experiment?.searcherMetric,
      searcherMetricsVal: run.searcherMetricValue,
      resourcePool: experiment?.resourcePool,
      forkedFrom: experiment?.forkedFrom,
      isExperimentMultitrial: experiment?.isMultitrial,
      externalExperimentId: experiment?.externalExperimentId,
    },
  };
}

export function rowOfExperiment({ experiment, bestTrial }: Found): TableRow {
  return {
    id: experiment.id,
    kind: "experiment",
    href: `/experiments/${experiment.id}`,
    experimentId: experiment.id,
    trialId: bestTrial?.id ?? null,
    name: experiment.name,
    state: experiment.state,
    archived: experiment.archived,
    searcherMetric: experiment.searcherMetric ?? "",
    hparams: bestTrial?.hparams ?? {},
    metadata: {},
    summary: bestTrial?.summaryMetrics ?? {},
    userId: experiment.userId ?? null,
    facts: {
      ...experiment,
      tags: experiment.labels,
      user: experiment.username,
      searcherMetricsVal: experiment.bestTrialSearcherMetric,
    },
  };
}

/** Undefined where the row has nothing under that column. */
export function columnValue(row: TableRow, key: string): unknown {
  if (key.startsWith("hp.")) return atPath(row.hparams, key.slice(3));
  if (key.startsWith("metadata.")) return atPath(row.metadata, key.slice(9));
  const statistic = STATISTIC.exec(key);
  if (statistic !== null && !(key in row.facts)) {
    const [, group = "", name = "", which = "last"] = statistic;
    return metricOf(row.summary, group, name, which);
  }
  return row.facts[key] ?? undefined;
}

/** The same as a number, where it is one. */
export function numberAt(row: TableRow, key: string): number | null {
  const value = columnValue(row, key);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Against the baseline: the difference, and by what part of it. */
export function deltaOf(value: number | null, base: number | null): { difference: number; part: number | null } | null {
  if (value === null || base === null) return null;
  return { difference: value - base, part: base === 0 ? null : (value - base) / Math.abs(base) };
}

function metricOf(summary: TableRow["summary"], group: string, name: string, which: string): unknown {
  const entry = fieldOf(fieldOf(summary, GROUPS[group] ?? group), name);
  if (which !== "mean") return fieldOf(entry, which);
  const [sum, count] = [fieldOf(entry, "sum"), fieldOf(entry, "count")];
  return typeof sum === "number" && typeof count === "number" && count > 0 ? sum / count : fieldOf(entry, "mean");
}

function atPath(values: Readonly<Record<string, unknown>>, path: string): unknown {
  if (path in values) return values[path];
  return path.split(".").reduce<unknown>((value, name) => fieldOf(value, name), values);
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
