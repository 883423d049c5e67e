// What a query may name: the columns of a project with their kinds, the short names people type, and near misses.

import type { Operator } from "./filter";

export type Kind = "number" | "text" | "time" | "span" | "state" | "labels" | "boolean" | "data";

/** A column as the API lists it. */
export interface WireColumn {
  column: string;
  location: string;
  type: string;
  displayName?: string | null | undefined;
}

export interface Column {
  name: string;
  label: string;
  kind: Kind;
  location: string;
  type: string;
}

export interface Catalogue {
  columns: readonly Column[];
  /** The column of a name as typed, with short names and statistics of metrics understood. */
  find: (name: string) => Column | undefined;
}

export const STATISTICS = ["last", "min", "max", "mean", "sum", "count"] as const;

const KINDS: Record<string, Kind> = {
  state: "state",
  tags: "labels",
  archived: "boolean",
  isExperimentMultitrial: "boolean",
  unmanaged: "boolean",
  duration: "span",
};

const SHORT_NAMES: Record<string, string> = {
  tag: "tags",
  label: "tags",
  labels: "tags",
  experiment: "experimentId",
  description: "experimentDescription",
  pool: "resourcePool",
  searcher: "searcherType",
  metric: "searcherMetricsVal",
  started: "startTime",
  ended: "endTime",
  checkpoints: "checkpointCount",
  trials: "numTrials",
};

const LOCATION_PREFIX = /^(trial\.|run\.)?(hparams|hyperparameters|hp)\./;

export const OPERATORS: Record<Kind, readonly Operator[]> = {
  number: ["=", "!=", ">", ">=", "<", "<=", "isEmpty", "notEmpty"],
  span: ["=", "!=", ">", ">=", "<", "<=", "isEmpty", "notEmpty"],
  time: [">", ">=", "<", "<=", "isEmpty", "notEmpty"],
  text: ["=", "!=", "contains", "notContains", "isEmpty", "notEmpty"],
  state: ["=", "!="],
  labels: ["contains", "notContains", "isEmpty", "notEmpty"],
  boolean: ["=", "!="],
  data: ["=", "!=", ">", ">=", "<", "<=", "contains", "notContains", "isEmpty", "notEmpty"],
};

/** Of a metric only its last value is a column; `find` makes its other statistics from that. */
export function catalogueOf(wire: readonly WireColumn[]): Catalogue {
  const columns = wire.map(columnOf).filter((column) => !isMetric(column) || column.name.endsWith(".last"));
  const byName = new Map(columns.map((column) => [column.name, column]));
  const byShortName = metricShortNames(columns);
  const find = (name: string): Column | undefined => {
    const known = byName.get(name) ?? byName.get(shortNameOf(name, byName)) ?? byName.get(`${name}.last`);
    return known ?? byShortName.get(name) ?? statisticOf(name, byName, byShortName);
  };
  return { columns, find };
}

/** The known name nearest to a mistyped one, or null when none is near. */
export function nearest(name: string, catalogue: Catalogue): string | null {
  const names = new Set([...catalogue.columns.map((column) => shortest(column)), ...Object.keys(SHORT_NAMES)]);
  for (const column of catalogue.columns) names.add(column.name);
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of names) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** What a person would type for a column: `val_loss` for `validation.val_loss.last`. */
export function shortest(column: Column): string {
  const match = /^(?:validation|training)\.(.+)\.last$/.exec(column.name);
  return match?.[1] ?? column.name;
}

export function isMetric(column: Column): boolean {
  return /VALIDATIONS|TRAINING|CUSTOM_METRIC/.test(column.location);
}

function columnOf(wire: WireColumn): Column {
  return {
    name: wire.column,
    label: wire.displayName || wire.column,
    kind: kindOf(wire),
    location: wire.location,
    type: wire.type,
  };
}

function kindOf(wire: WireColumn): Kind {
  if (/HYPERPARAMETERS|METADATA/.test(wire.location)) return "data";
  const known = KINDS[wire.column];
  if (known !== undefined) return known;
  if (wire.type === "COLUMN_TYPE_NUMBER") return "number";
  return wire.type === "COLUMN_TYPE_DATE" ? "time" : "text";
}

function shortNameOf(name: string, byName: ReadonlyMap<string, Column>): string {
  const short = SHORT_NAMES[name];
  if (short !== undefined && byName.has(short)) return short;
  // trials have the name of their experiment
  if (name === "name") return "experimentName";
  return name.replace(LOCATION_PREFIX, "hp.");
}

/** `val_loss` means the validation metric of that name, or else the training one. */
function metricShortNames(columns: readonly Column[]): Map<string, Column> {
  const found = new Map<string, Column>();
  for (const place of ["TRAINING", "VALIDATIONS"]) {
    for (const column of columns) {
      if (column.location.endsWith(place)) found.set(shortest(column), column);
    }
  }
  return found;
}

/** `validation.val_loss.min` and `val_loss.min` are statistics of a listed metric. */
function statisticOf(
  name: string,
  byName: ReadonlyMap<string, Column>,
  byShortName: ReadonlyMap<string, Column>,
): Column | undefined {
  const dot = name.lastIndexOf(".");
  const statistic = STATISTICS.find((one) => one === name.slice(dot + 1));
  if (dot <= 0 || statistic === undefined) return undefined;
  const base = byName.get(`${name.slice(0, dot)}.last`) ?? byShortName.get(name.slice(0, dot));
  if (base === undefined || !isMetric(base)) return undefined;
  return { ...base, name: base.name.replace(/\.last$/, `.${statistic}`), label: `${base.label} (${statistic})` };
}

/** Levenshtein's, given up at `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? limit;
}
