// What a chart shows of its lines: the scales of both axes, and in words what those scales leave out. Pure.
import { type Line, notFiniteAt } from "./lines";
import { type Scale, scaleOf } from "./scale";
import type { Range } from "./types";

export interface FrameOptions {
  logX: boolean;
  logY: boolean;
  hideOutliers: boolean;
  range: Range | null;
}

export interface Frame {
  x: Scale;
  y: Scale;
  /** Sentences for the reader: outliers, values a log axis cannot show, NaN, buckets. */
  words: string[];
}

export const LOW_PERCENT = 1;
export const HIGH_PERCENT = 99;
const PAD = 0.04;

export function frameOf(lines: readonly Line[], options: FrameOptions): Frame {
  const x = xScale(lines, options);
  const counts = { points: 0, outside: 0, notPositive: 0, notFinite: 0 };
  const extent = newExtent();
  const values: number[] = [];
  for (const line of lines) {
    const [first, last] = inside(line.x, x);
    for (let i = first; i < last; i++) take(line, i, options, extent, values, counts);
  }
  const hides = options.hideOutliers && values.length >= 20;
  if (hides) counts.outside = shrink(extent, values);
  const y = scaleOf(options.logY ? "log" : "linear", extent.lo, extent.hi, PAD);
  return { x, y, words: wordsOf(counts, hides, lines) };
}

/** First index and one past the last index of the ascending `x` that lie in the scale. */
export function inside(x: readonly number[], scale: { lo: number; hi: number }): readonly [number, number] {
  return [lowerBound(x, scale.lo, false), lowerBound(x, scale.hi, true)];
}

/** The first index whose value is >= `value` (or > `value` when `past`). */
export function lowerBound(x: readonly number[], value: number, past: boolean): number {
  let lo = 0;
  let hi = x.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    const at = x[mid] ?? 0;
    if (at < value || (past && at === value)) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/** A value that occurs, the one nearer to the middle: interpolating would let a single outlier stretch the axis. */
export function percentile(sorted: ArrayLike<number>, percent: number): number {
  const place = (sorted.length - 1) * (percent / 100);
  return sorted[percent < 50 ? Math.ceil(place) : Math.floor(place)] ?? Number.NaN;
}

interface Extent {
  lo: number;
  hi: number;
}

interface Counts {
  points: number;
  outside: number;
  notPositive: number;
  notFinite: number;
}

function newExtent(): Extent {
  return { lo: Number.POSITIVE_INFINITY, hi: Number.NEGATIVE_INFINITY };
}

function xScale(lines: readonly Line[], { logX, range }: FrameOptions): Scale {
  if (range !== null && range[1] > range[0] && (!logX || range[0] > 0)) {
    return { kind: logX ? "log" : "linear", lo: range[0], hi: range[1] };
  }
  const extent = newExtent();
  for (const { x } of lines) {
    widen(extent, x[logX ? lowerBound(x, 0, true) : 0], logX);
    widen(extent, x[x.length - 1], logX);
  }
  return scaleOf(logX ? "log" : "linear", extent.lo, extent.hi);
}

function widen(extent: Extent, value: number | null | undefined, log: boolean): void {
  if (value === null || value === undefined || !Number.isFinite(value) || (log && value <= 0)) return;
  if (value < extent.lo) extent.lo = value;
  if (value > extent.hi) extent.hi = value;
}

function take(line: Line, i: number, options: FrameOptions, extent: Extent, values: number[], counts: Counts): void {
  const value = line.y[i];
  if (value === null || value === undefined) return;
  counts.points++;
  counts.notFinite += notFiniteAt(line, i);
  widen(extent, line.min?.[i], options.logY);
  widen(extent, line.max?.[i], options.logY);
  if (!Number.isFinite(value)) return;
  if (options.logY && value <= 0) counts.notPositive++;
  else if (options.hideOutliers) values.push(value);
  widen(extent, value, options.logY);
}

/** Narrows the extent to the percentiles and says how many values are left outside. */
function shrink(extent: Extent, values: number[]): number {
  const sorted = Float64Array.from(values).sort();
  extent.lo = percentile(sorted, LOW_PERCENT);
  extent.hi = percentile(sorted, HIGH_PERCENT);
  return values.reduce((n, value) => (value < extent.lo || value > extent.hi ? n + 1 : n), 0);
}

function wordsOf(counts: Counts, hides: boolean, lines: readonly Line[]): string[] {
  const words: string[] = [];
  if (hides) {
    const outside = `${counted(counts.outside)} of ${counted(counts.points)} points lie outside`;
    words.push(`Outliers hidden (percentiles ${LOW_PERCENT} to ${HIGH_PERCENT} shown): ${outside}.`);
  }
  if (counts.notPositive > 0) words.push(`${counted(counts.notPositive)} values ≤ 0 have no place on a log axis.`);
  if (counts.notFinite > 0) words.push(`${pointWord(counts.notFinite)} NaN or infinite (✕).`);
  if (lines.some((line) => line.bucketed)) {
    words.push("In buckets: line = last value, band = range; zoom in.");
  }
  return words;
}

function pointWord(n: number): string {
  return n === 1 ? "1 point" : `${counted(n)} points`;
}

function counted(n: number): string {
  return n.toLocaleString("en-US");
}
