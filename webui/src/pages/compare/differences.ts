// What differs between trials: rows of names with a value per trial, those that differ first. Pure.

import { flatten, type Leaf } from "../../detail/hparams";
import { isRecord } from "../../detail/plain";

export interface DifferenceRow {
  name: string;
  /** One per trial, in their order; undefined where a trial has none. */
  values: (Leaf | undefined)[];
  differs: boolean;
}

/** Differing names first, then the others, each by name. */
export function differenceRows(things: readonly Readonly<Record<string, unknown>>[]): DifferenceRow[] {
  const flat = things.map((one) => flatten({ ...one }));
  const names = [...new Set(flat.flatMap((one) => Object.keys(one)))].sort((a, b) => a.localeCompare(b));
  const rows = names.map((name) =>
    rowOf(
      name,
      flat.map((one) => one[name]),
    ),
  );
  return [...rows.filter((row) => row.differs), ...rows.filter((row) => !row.differs)];
}

export interface MetricRow {
  group: string;
  name: string;
  values: (number | null)[];
}

export type Statistic = "last" | "min" | "max";

const GROUP_NAMES: Record<string, string> = { avg_metrics: "training", validation_metrics: "validation" };

/** Exact values of every metric that any of the trials has; validation first. */
export function metricRows(summaries: readonly Readonly<Record<string, unknown>>[], statistic: Statistic): MetricRow[] {
  const found = new Map<string, MetricRow>();
  summaries.forEach((summary, at) => {
    for (const [group, names] of Object.entries(summary)) {
      for (const [name, entry] of Object.entries(isRecord(names) ? names : {})) {
        const value = isRecord(entry) ? entry[statistic] : undefined;
        if (typeof value !== "number") continue;
        const key = `${group} ${name}`;
        const row = found.get(key) ?? { group: GROUP_NAMES[group] ?? group, name, values: summaries.map(() => null) };
        row.values[at] = value;
        found.set(key, row);
      }
    }
  });
  const rank = (row: MetricRow) => (row.group === "validation" ? 0 : row.group === "training" ? 1 : 2);
  return [...found.values()].sort(
    (a, b) => rank(a) - rank(b) || a.group.localeCompare(b.group) || a.name.localeCompare(b.name),
  );
}

/** The parts of a configuration that say where and with what code runs. */
export function environmentOf(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = ["environment", "resources", "entrypoint", "bind_mounts", "data", "max_restarts", "scheduling_unit"];
  return Object.fromEntries(kept.filter((name) => name in config).map((name) => [name, config[name]]));
}

export type FileChange = "same" | "changed" | "added" | "removed";

export interface FileRow {
  path: string;
  change: FileChange;
  before: string | null;
  after: string | null;
}

/** Files by path: null content is not text. Changed ones first. */
export function fileRows(
  before: ReadonlyMap<string, string | null>,
  after: ReadonlyMap<string, string | null>,
): FileRow[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort((a, b) => a.localeCompare(b));
  const rows = paths.map((path) => ({
    path,
    change: changeOf(before, after, path),
    before: before.get(path) ?? null,
    after: after.get(path) ?? null,
  }));
  return [...rows.filter((row) => row.change !== "same"), ...rows.filter((row) => row.change === "same")];
}

function changeOf(
  before: ReadonlyMap<string, string | null>,
  after: ReadonlyMap<string, string | null>,
  path: string,
): FileChange {
  if (!before.has(path)) return "added";
  if (!after.has(path)) return "removed";
  return before.get(path) === after.get(path) ? "same" : "changed";
}

function rowOf(name: string, values: (Leaf | undefined)[]): DifferenceRow {
  return { name, values, differs: values.some((value) => value !== values[0]) };
}
