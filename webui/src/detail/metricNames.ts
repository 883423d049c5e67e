// Metrics of a trial by name: which there are, which belong on one chart, which match what a reader looks for.

import { isRecord } from "./plain";

export interface Metric {
  group: string;
  name: string;
}

export interface MetricSection {
  /** The prefix that the names share, empty for those without one. */
  prefix: string;
  charts: MetricChart[];
}

export interface MetricChart {
  /** The name without the words for training and validation, so that both are drawn in one chart. */
  title: string;
  metrics: Metric[];
}

const SUMMARY_GROUPS: Record<string, string> = { avg_metrics: "training", validation_metrics: "validation" };
/** Reported by the profiler: they have a page of their own. */
const SYSTEM_GROUPS: ReadonlySet<string> = new Set(["gpu", "cpu", "memory", "disk", "network", "misc"]);
const TRAIN_OR_VALIDATION = /^(train(ing)?|val(id(ation)?)?|test|eval)[_./ -]/i;
/** x axes, not things to draw. */
const AXES = new Set(["batches", "epoch", "epochs"]);

export function keyOf(metric: Metric): string {
  return `${metric.group}.${metric.name}`;
}

export function metricOf(key: string): Metric {
  const dot = key.indexOf(".");
  return { group: key.slice(0, dot), name: key.slice(dot + 1) };
}

/** From `summaryMetrics` of a trial: numbers only, without the profiler's. */
export function metricsOf(summary: Record<string, unknown> | null | undefined): Metric[] {
  const found: Metric[] = [];
  for (const [group, names] of Object.entries(summary ?? {})) {
    if (SYSTEM_GROUPS.has(group) || typeof names !== "object" || names === null) continue;
    for (const [name, entry] of Object.entries(names)) {
      if (isNumeric(entry) && !AXES.has(name)) found.push({ group: SUMMARY_GROUPS[group] ?? group, name });
    }
  }
  return found;
}

/** The last value of a metric in `summaryMetrics`, or its least or greatest. */
export function summaryValue(
  summary: Record<string, unknown> | null | undefined,
  metric: Metric,
  which: "last" | "min" | "max",
): number | null {
  const key = Object.keys(SUMMARY_GROUPS).find((name) => SUMMARY_GROUPS[name] === metric.group) ?? metric.group;
  const group = summary?.[key];
  const entry = isRecord(group) ? group[metric.name] : undefined;
  const value = isRecord(entry) ? entry[which] : undefined;
  return typeof value === "number" ? value : null;
}

/** Charts in sections: by the part before a slash, training and validation of the same thing together. */
export function sections(metrics: readonly Metric[]): MetricSection[] {
  const bySection = new Map<string, Map<string, Metric[]>>();
  for (const metric of metrics) {
    const title = metric.name.replace(TRAIN_OR_VALIDATION, "") || metric.name;
    const prefix = prefixOf(metric);
    const charts = bySection.get(prefix) ?? new Map<string, Metric[]>();
    charts.set(title, [...(charts.get(title) ?? []), metric]);
    bySection.set(prefix, charts);
  }
  return [...bySection]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([prefix, charts]) => ({
      prefix,
      charts: [...charts].sort(([a], [b]) => a.localeCompare(b)).map(([title, found]) => ({ title, metrics: found })),
    }));
}

/** What a chart's legend calls its metrics: the group alone where the chart has one of each, for its title says the rest. */
export function legendName(metrics: readonly Metric[]): (trialId: number, metric: Metric) => string {
  const isOneOfEach = new Set(metrics.map((metric) => metric.group)).size === metrics.length;
  return (_, metric) => (isOneOfEach ? metric.group : `${metric.group} ${metric.name}`);
}

/** The test of a filter box: a pattern where it is one, else a piece of text. */
export function matcher(text: string): (name: string) => boolean {
  if (text === "") return () => true;
  try {
    const pattern = new RegExp(text, "i");
    return (name) => pattern.test(name);
  } catch {
    return (name) => name.toLowerCase().includes(text.toLowerCase());
  }
}

function prefixOf(metric: Metric): string {
  const ownGroup = metric.group === "training" || metric.group === "validation" ? "" : metric.group;
  const bare = metric.name.replace(TRAIN_OR_VALIDATION, "");
  const slash = bare.indexOf("/");
  const head = slash > 0 ? bare.slice(0, slash) : "";
  return [ownGroup, head].filter((part) => part !== "").join(" / ");
}

function isNumeric(entry: unknown): boolean {
  return isRecord(entry) && (entry["type"] === undefined || entry["type"] === "number");
}
