// Hyperparameters as charts and tables need them: flat dotted names, the axes a search declares, and text.

import { isRecord } from "./plain";

export type Leaf = number | string | boolean | null;
export type Flat = Record<string, Leaf>;

export interface Axis {
  key: string;
  label: string;
  kind: "linear" | "log" | "category";
  values?: string[];
}

interface Declared {
  type?: unknown;
  val?: unknown;
  vals?: unknown;
}

const TYPES = new Set(["const", "int", "double", "log", "categorical"]);

/** `{a: {b: 1}}` becomes `{"a.b": 1}`; lists are shown as text. */
export function flatten(values: Record<string, unknown>, prefix = ""): Flat {
  const flat: Flat = {};
  for (const [name, value] of Object.entries(values)) {
    const key = prefix === "" ? name : `${prefix}.${name}`;
    if (isRecord(value) && Object.keys(value).length > 0) Object.assign(flat, flatten(value, key));
    else flat[key] = isLeaf(value) ? value : JSON.stringify(value);
  }
  return flat;
}

/** The hyperparameters that a search varies, from its configuration and what its trials really have. */
export function searchedAxes(declared: Record<string, unknown>, trials: readonly Flat[]): Axis[] {
  const axes: Axis[] = [];
  for (const [key, entry] of declarations(declared)) {
    if (entry.type === "const") continue;
    const found = trials.map((trial) => trial[key]).filter((value) => value !== undefined);
    if (new Set(found).size < 2 && entry.type === undefined) continue;
    axes.push(axisOf(key, entry.type, found));
  }
  return axes;
}

/** Names whose values differ between trials, for experiments that declare nothing. */
export function varyingAxes(trials: readonly Flat[]): Axis[] {
  const keys = new Set(trials.flatMap((trial) => Object.keys(trial)));
  const axes: Axis[] = [];
  for (const key of keys) {
    const found = trials.map((trial) => trial[key]).filter((value) => value !== undefined);
    if (new Set(found).size > 1) axes.push(axisOf(key, undefined, found));
  }
  return axes;
}

/** A value as a point on an axis. */
export function pointOf(value: Leaf | undefined): number | string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "boolean" ? String(value) : value;
}

export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return JSON.stringify(value) ?? "";
}

function* declarations(declared: Record<string, unknown>, prefix = ""): Generator<[string, Declared]> {
  for (const [name, entry] of Object.entries(declared)) {
    const key = prefix === "" ? name : `${prefix}.${name}`;
    if (!isRecord(entry)) yield [key, { type: "const", val: entry }];
    else if (typeof entry["type"] === "string" && TYPES.has(entry["type"])) yield [key, entry];
    else yield* declarations(entry, key);
  }
}

function axisOf(key: string, type: unknown, found: readonly Leaf[]): Axis {
  const isNumeric = found.every((value) => typeof value === "number");
  if (type === "log" && isNumeric) return { key, label: key, kind: "log" };
  if (type !== "categorical" && isNumeric && found.length > 0) return { key, label: key, kind: "linear" };
  const values = [...new Set(found.map((value) => String(value)))];
  values.sort((a, b) => Number(a) - Number(b) || a.localeCompare(b));
  return { key, label: key, kind: "category", values };
}

function isLeaf(value: unknown): value is Leaf {
  return value === null || ["number", "string", "boolean"].includes(typeof value);
}
