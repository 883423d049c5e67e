// Hyperparameters as rows of a form: what each is, and how one kind becomes another. Pure.
import { isRecord } from "../../detail/plain";
import type { Path, Plain } from "./values";

export type HparamKind = "const" | "int" | "double" | "log" | "categorical";

export interface Hparam {
  /** Below `hyperparameters`. */
  path: Path;
  kind: HparamKind;
  /** Of a constant. */
  value?: unknown;
  minval?: number | undefined;
  maxval?: number | undefined;
  base?: number | undefined;
  /** How many points a grid takes of the range. */
  count?: number | undefined;
  vals?: unknown[] | undefined;
}

export const KINDS: readonly { id: HparamKind; label: string }[] = [
  { id: "const", label: "fixed value" },
  { id: "double", label: "number between" },
  { id: "int", label: "whole number between" },
  { id: "log", label: "power (log scale)" },
  { id: "categorical", label: "one of a list" },
];

/** Every hyperparameter, nested groups written out. */
export function hparamsOf(declared: unknown, prefix: Path = []): Hparam[] {
  if (!isRecord(declared)) return [];
  return Object.entries(declared).flatMap(([name, value]) => {
    const path = [...prefix, name];
    if (!isRecord(value)) return [{ path, kind: "const" as const, value }];
    return "type" in value ? [ofType(path, value)] : hparamsOf(value, path);
  });
}

/** As the configuration writes it. */
export function declaration(hparam: Hparam): unknown {
  const { kind, minval, maxval } = hparam;
  if (kind === "const") return hparam.value ?? null;
  if (kind === "categorical") return { type: kind, vals: hparam.vals ?? [] };
  const range: Plain = { type: kind };
  if (kind === "log") range["base"] = hparam.base ?? 10;
  range["minval"] = minval ?? null;
  range["maxval"] = maxval ?? null;
  if (hparam.count !== undefined) range["count"] = hparam.count;
  return range;
}

/** The same hyperparameter as another kind, with a range around what it is now. */
export function asKind(hparam: Hparam, kind: HparamKind): Hparam {
  const { path } = hparam;
  if (kind === hparam.kind) return hparam;
  const [low, high] = span(hparam);
  const middle = typeof hparam.value === "number" ? hparam.value : (low + high) / 2;
  const count = hparam.count === undefined ? {} : { count: hparam.count };
  switch (kind) {
    case "const":
      return { path, kind, value: hparam.kind === "categorical" ? (hparam.vals?.[0] ?? "") : tidy(middle) };
    case "categorical":
      return { path, kind, vals: hparam.kind === "const" ? [hparam.value ?? ""] : [tidy(low), tidy(high)] };
    case "int":
      return { path, kind, minval: Math.floor(low), maxval: Math.max(Math.floor(low) + 1, Math.ceil(high)), ...count };
    case "double":
      return { path, kind, minval: tidy(low), maxval: tidy(high), ...count };
    case "log":
      return { path, kind, base: 10, ...exponents(low, high), ...count };
  }
}

export function nameOf(path: Path): string {
  return path.join(".");
}

/** Typed text as the value it would be in YAML: numbers, true, false, null, lists and maps in JSON; else the text. */
export function typed(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "") return "";
  try {
    return JSON.parse(trimmed);
  } catch {
    const number = Number(trimmed);
    return Number.isFinite(number) && !/^0[xXoObB]/.test(trimmed) ? number : text;
  }
}

/** The opposite: text that would be read as something else stands in quotes. */
export function shown(value: unknown): string {
  return typeof value === "string" && typed(value) === value ? value : (JSON.stringify(value) ?? "");
}

/** A list typed with commas; items that hold a comma are written in quotes. */
export function typedList(text: string): unknown[] {
  const items = text.match(/\s*(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\]|[^,]+)/g) ?? [];
  return items
    .map((item) => item.trim())
    .filter((item) => item !== "")
    .map(typed);
}

export function shownList(values: readonly unknown[] | undefined): string {
  const item = (value: unknown) =>
    typeof value === "string" && /[,"[]/.test(value) ? JSON.stringify(value) : shown(value);
  return (values ?? []).map(item).join(", ");
}

function ofType(path: Path, value: Plain): Hparam {
  const kind = KINDS.find(({ id }) => id === value["type"])?.id ?? "const";
  if (kind === "const") return { path, kind, value: "val" in value ? value["val"] : value };
  if (kind === "categorical") return { path, kind, vals: Array.isArray(value["vals"]) ? value["vals"] : [] };
  return {
    path,
    kind,
    minval: number(value["minval"]),
    maxval: number(value["maxval"]),
    base: kind === "log" ? number(value["base"]) : undefined,
    count: number(value["count"]),
  };
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function span(hparam: Hparam): [number, number] {
  if (hparam.kind === "const") return around(hparam.value);
  if (hparam.kind === "categorical") {
    const numbers = (hparam.vals ?? []).filter((one): one is number => typeof one === "number");
    return numbers.length > 1 ? [Math.min(...numbers), Math.max(...numbers)] : around(numbers[0]);
  }
  const { minval = 0, maxval = 1, base = 10 } = hparam;
  return hparam.kind === "log" ? [base ** minval, base ** maxval] : [minval, maxval];
}

function around(value: unknown): [number, number] {
  if (typeof value !== "number" || value === 0) return [0, 1];
  const ends = [value / 10, value * 10];
  return [Math.min(...ends), Math.max(...ends)];
}

function exponents(low: number, high: number): { minval: number; maxval: number } {
  const minval = low > 0 ? Math.floor(Math.log10(low) + 1e-9) : -4;
  const maxval = high > 0 ? Math.ceil(Math.log10(high) - 1e-9) : 0;
  return { minval, maxval: Math.max(maxval, minval + 1) };
}

function tidy(value: number): number {
  return Number(value.toPrecision(6));
}
