// Parallel coordinates without drawing: where lines run, which pass the brushes, which is nearest. Pure.
import { type AxisScale, axisScale, unitOf } from "./axis";
import type { Brushes, Id, VizAxis, VizValue } from "./types";

export interface ParallelRow {
  id: Id;
  values: Readonly<Record<string, VizValue>>;
  metric?: number;
}

export interface ParallelLine {
  row: ParallelRow;
  /** The place on each axis from 0 (bottom) to 1; NaN where the row has no value. */
  units: number[];
  /** The metric from 0 to 1 for the colour; NaN without a metric. */
  heat: number;
}

export interface ParallelLayout {
  scales: AxisScale[];
  lines: ParallelLine[];
  metric: { lo: number; hi: number } | null;
}

export function layoutOf(axes: readonly VizAxis[], rows: readonly ParallelRow[]): ParallelLayout {
  const scales = axes.map((axis) =>
    axisScale(
      axis,
      rows.map((row) => row.values[axis.key]),
    ),
  );
  const metric = extentOf(rows);
  const lines = rows.map((row) => ({
    row,
    units: axes.map((axis, i) => {
      const scale = scales[i];
      return scale === undefined ? Number.NaN : unitOf(scale, row.values[axis.key]);
    }),
    heat: heatOf(row.metric, metric),
  }));
  return { scales, lines, metric };
}

/** A row passes when it has a value inside every brush. */
export function passes(row: ParallelRow, brushes: Brushes): boolean {
  return Object.entries(brushes).every(([key, brush]) => {
    const value = row.values[key];
    if (value === undefined) return false;
    const [lo, hi] = brush;
    if (typeof lo === "number" && typeof hi === "number")
      return typeof value === "number" && value >= lo && value <= hi;
    return (brush as readonly string[]).includes(String(value));
  });
}

/** The line nearest to a pixel, within `reach` pixels; `width` and `height` are those of the axes' area. */
export function nearestParallel(
  lines: readonly ParallelLine[],
  at: { x: number; y: number },
  size: { width: number; height: number },
  reach: number,
): ParallelLine | null {
  const axes = lines[0]?.units.length ?? 0;
  if (axes < 2) return null;
  const step = size.width / (axes - 1);
  const left = Math.min(axes - 2, Math.max(0, Math.floor(at.x / step)));
  const part = at.x / step - left;
  let best: ParallelLine | null = null;
  let bestGap = reach;
  for (const line of lines) {
    const from = line.units[left] ?? Number.NaN;
    const to = line.units[left + 1] ?? Number.NaN;
    const gap = Math.abs((1 - (from + (to - from) * part)) * size.height - at.y);
    if (gap <= bestGap) {
      best = line;
      bestGap = gap;
    }
  }
  return best;
}

/** Rows by colour, so that a thousand lines cost a few strokes; those without a metric come first. */
export function byHeat(lines: readonly ParallelLine[], levels: number): Map<number, ParallelLine[]> {
  const buckets = new Map<number, ParallelLine[]>();
  const sorted = [...lines].sort((a, b) => rank(a) - rank(b));
  for (const line of sorted) {
    const level = Number.isNaN(line.heat) ? -1 : Math.min(levels - 1, Math.floor(line.heat * levels));
    const bucket = buckets.get(level) ?? [];
    bucket.push(line);
    buckets.set(level, bucket);
  }
  return buckets;
}

/** The brushes with one axis' brush set, or taken away by null. */
export function withBrush(brushes: Brushes, key: string, brush: Brushes[string] | null): Brushes {
  const rest = Object.fromEntries(Object.entries(brushes).filter(([other]) => other !== key));
  return brush === null ? rest : { ...rest, [key]: brush };
}

function extentOf(rows: readonly ParallelRow[]): { lo: number; hi: number } | null {
  const metrics = rows.flatMap(({ metric }) => (metric !== undefined && Number.isFinite(metric) ? [metric] : []));
  if (metrics.length === 0) return null;
  return { lo: metrics.reduce((a, b) => Math.min(a, b)), hi: metrics.reduce((a, b) => Math.max(a, b)) };
}

function heatOf(metric: number | undefined, extent: { lo: number; hi: number } | null): number {
  if (metric === undefined || extent === null || !Number.isFinite(metric)) return Number.NaN;
  return extent.hi === extent.lo ? 0.5 : (metric - extent.lo) / (extent.hi - extent.lo);
}

function rank(line: ParallelLine): number {
  return Number.isNaN(line.heat) ? -1 : line.heat;
}
