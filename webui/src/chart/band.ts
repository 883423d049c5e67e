// The band between two lines as one upright stroke per pixel column: a browser without a GPU fills a polygon of
// thousands of corners six times slower than it draws these strokes. Pure.
import type { Pen } from "./trace";

/** Upper and lower end per pixel column, NaN where there is no band. */
export interface Columns {
  first: number;
  top: Float64Array;
  bottom: Float64Array;
}

/** Between two buckets the band runs straight; a gap in either edge ends it. */
export function columnsOf(
  x: Float64Array,
  upper: Float64Array,
  lower: Float64Array,
  from: number,
  to: number,
): Columns {
  const first = Math.floor(from);
  const width = Math.max(0, Math.ceil(to) - first);
  const columns = {
    first,
    top: new Float64Array(width).fill(Number.NaN),
    bottom: new Float64Array(width).fill(Number.NaN),
  };
  for (let i = 0; i < x.length; i++) {
    if (isOpen(upper, lower, i)) continue;
    widen(columns, x[i] ?? 0, upper[i] ?? 0, lower[i] ?? 0);
    if (!isOpen(upper, lower, i + 1)) bridge(columns, x, upper, lower, i);
  }
  return columns;
}

export function traceBand(pen: Pen, { first, top, bottom }: Columns): void {
  for (let i = 0; i < top.length; i++) traceUpright(pen, first + i, top[i], bottom[i]);
}

/** Columns that stand out from both neighbours by `height` pixels: the spikes that a faint band would lose. */
export function traceSpikes(pen: Pen, { first, top, bottom }: Columns, height: number): void {
  for (let i = 0; i < top.length; i++) {
    const up = Math.min(sticksOut(top, i, -1), sticksOut(top, i, 1));
    const down = Math.min(-sticksOut(bottom, i, -1), -sticksOut(bottom, i, 1));
    if (up >= height || down >= height) traceUpright(pen, first + i, top[i], bottom[i]);
  }
}

function isOpen(upper: Float64Array, lower: Float64Array, i: number): boolean {
  return Number.isNaN(upper[i] ?? Number.NaN) || Number.isNaN(lower[i] ?? Number.NaN);
}

/** Fills the columns between bucket `i` and the next; nothing is made per bucket, there are hundreds of thousands. */
function bridge(columns: Columns, x: Float64Array, upper: Float64Array, lower: Float64Array, i: number): void {
  const from = x[i] ?? 0;
  const to = x[i + 1] ?? 0;
  const end = Math.min(columns.first + columns.top.length, Math.floor(to));
  for (let column = Math.max(columns.first, Math.floor(from) + 1); column < end; column++) {
    const part = (column + 0.5 - from) / (to - from);
    const top = (upper[i] ?? 0) + ((upper[i + 1] ?? 0) - (upper[i] ?? 0)) * part;
    const bottom = (lower[i] ?? 0) + ((lower[i + 1] ?? 0) - (lower[i] ?? 0)) * part;
    widen(columns, column, top, bottom);
  }
}

function widen({ first, top, bottom }: Columns, x: number, up: number, down: number): void {
  const i = Math.floor(x) - first;
  if (i < 0 || i >= top.length) return;
  const before = top[i] ?? Number.NaN;
  top[i] = Number.isNaN(before) ? up : Math.min(before, up);
  bottom[i] = Number.isNaN(before) ? down : Math.max(bottom[i] ?? down, down);
}

function traceUpright(pen: Pen, column: number, top: number | undefined, bottom: number | undefined): void {
  if (top === undefined || bottom === undefined || Number.isNaN(top) || bottom - top < 0.5) return;
  pen.moveTo(column + 0.5, top);
  pen.lineTo(column + 0.5, bottom);
}

/** How far a column's end lies above (smaller y) its neighbour's; columns without a neighbour do not stand out. */
function sticksOut(ends: Float64Array, i: number, side: 1 | -1): number {
  return (ends[i + side] ?? Number.NaN) - (ends[i] ?? Number.NaN);
}
