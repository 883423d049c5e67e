// Places along an axis that may be linear, logarithmic or made of categories, and its ticks. Pure.

import { type Scale, scaleOf, toUnit, toValue } from "../chart/scale";
import { ticksOf } from "../chart/ticks";
import { metricNumber } from "../ui/format";
import type { VizAxis, VizValue } from "./types";

export type AxisScale = { kind: "number"; scale: Scale } | { kind: "category"; values: readonly string[] };

export interface AxisTick {
  unit: number;
  label: string;
}

export function axisScale(axis: VizAxis, data: Iterable<VizValue | undefined>, pad = 0): AxisScale {
  if (axis.kind === "category") return { kind: "category", values: axis.values ?? categoriesOf(data) };
  const log = axis.kind === "log";
  let lo = Number.POSITIVE_INFINITY;
  let hi = Number.NEGATIVE_INFINITY;
  for (const value of data) {
    if (typeof value !== "number" || !Number.isFinite(value) || (log && value <= 0)) continue;
    if (value < lo) lo = value;
    if (value > hi) hi = value;
  }
  return { kind: "number", scale: scaleOf(log ? "log" : "linear", lo, hi, pad) };
}

/** Between 0 and 1; NaN for a value that has no place. */
export function unitOf(axis: AxisScale, value: VizValue | undefined): number {
  if (value === undefined) return Number.NaN;
  if (axis.kind === "category") {
    const index = axis.values.indexOf(String(value));
    return index < 0 ? Number.NaN : (index + 0.5) / axis.values.length;
  }
  const number = typeof value === "number" ? value : Number(value);
  return Number.isFinite(number) ? toUnit(axis.scale, number) : Number.NaN;
}

export function axisTicks(axis: AxisScale, count: number): AxisTick[] {
  if (axis.kind === "number") {
    return ticksOf(axis.scale, count).map(({ value, label }) => ({ unit: toUnit(axis.scale, value), label }));
  }
  const every = Math.max(1, Math.ceil(axis.values.length / Math.max(1, count * 2)));
  return axis.values
    .map((label, i) => ({ unit: (i + 0.5) / axis.values.length, label }))
    .filter((_, i) => i % every === 0);
}

export function valueWord(value: VizValue | undefined): string {
  if (value === undefined) return "";
  return typeof value === "number" ? metricNumber(value) : value;
}

/** What a stretch of an axis, given in units, holds: a range of numbers or the categories inside it. */
export function stretchOf(axis: AxisScale, from: number, to: number): readonly [number, number] | readonly string[] {
  const lo = Math.min(from, to);
  const hi = Math.max(from, to);
  if (axis.kind === "number") return [toValue(axis.scale, lo), toValue(axis.scale, hi)];
  const n = axis.values.length;
  return axis.values.filter((_, i) => (i + 1) / n > lo && i / n < hi);
}

/** The stretch, in units, of a range of numbers; null for categories, which may lie apart. */
export function unitsOfRange(axis: AxisScale, range: readonly [number, number]): readonly [number, number] | null {
  if (axis.kind === "category") return null;
  const lo = toUnit(axis.scale, range[0]);
  const hi = toUnit(axis.scale, range[1]);
  return [Math.max(0, Number.isNaN(lo) ? 0 : lo), Math.min(1, Number.isNaN(hi) ? 1 : hi)];
}

function categoriesOf(data: Iterable<VizValue | undefined>): string[] {
  const seen = new Set<string>();
  for (const value of data) if (value !== undefined) seen.add(String(value));
  return [...seen].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}
