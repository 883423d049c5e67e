// A chart in words: the summary a screen reader gets and the sentence at the cursor. Pure.
import { metricNumber } from "../ui/format";
import type { Line } from "./lines";
import { nearestIndex } from "./nearest";
import { wordOf } from "./ticks";
import type { Better, XKind } from "./types";

const MOST = 5;

export interface Axes {
  xLabel: string;
  xKind: XKind;
  better?: Better | undefined;
}

/** First, best and last value of each line. */
export function summaryOf(title: string, lines: readonly Line[], axes: Axes): string {
  if (lines.every((line) => !line.y.some(isNumber))) return `${title}: no values yet.`;
  const parts = lines.slice(0, MOST).map((line) => lineSummary(line, axes));
  const rest = lines.length > MOST ? ` And ${lines.length - MOST} more series: view as table.` : "";
  return `${title}, ${lines.length} series. ${parts.join(" ")}${rest}`;
}

/** Every line's value at the cursor. */
export function cursorWords(lines: readonly Line[], x: number, axes: Axes): string {
  const values = lines.slice(0, MOST).map((line) => `${line.name} ${valueAt(line, x)}`);
  const rest = lines.length > MOST ? `, and ${lines.length - MOST} more` : "";
  return `${axes.xLabel} ${wordOf(x, axes.xKind)}: ${values.join(", ")}${rest}`;
}

export function valueAt(line: Line, x: number | null): string {
  const index = x === null ? nearestIndex(line, Number.MAX_VALUE) : nearestIndex(line, x);
  const value = index === null ? null : line.drawn[index];
  return value === null || value === undefined ? "–" : metricNumber(value);
}

function lineSummary(line: Line, axes: Axes): string {
  const found = landmarks(line);
  if (found === null) return `${line.name}: no values.`;
  const say = (word: string, i: number) =>
    `${word} ${metricNumber(line.y[i] ?? Number.NaN)} at ${axes.xLabel} ${wordOf(line.x[i] ?? Number.NaN, axes.xKind)}`;
  const { first, lowest, highest, last } = found;
  const best = bestWords(axes.better, say, lowest, highest);
  return `${line.name}: ${[say("first", first), ...best, say("last", last)].join(", ")}.`;
}

function bestWords(
  better: Better | undefined,
  say: (word: string, i: number) => string,
  lowest: number,
  highest: number,
) {
  if (better === "lower") return [say("best", lowest)];
  if (better === "higher") return [say("best", highest)];
  return [say("lowest", lowest), say("highest", highest)];
}

interface Landmarks {
  first: number;
  lowest: number;
  highest: number;
  last: number;
}

/** Indices of the values that stand for the line, found in one pass because lines may be long. */
function landmarks({ y }: Line): Landmarks | null {
  let found: Landmarks | null = null;
  for (let i = 0; i < y.length; i++) {
    const value = y[i] ?? null;
    if (value === null || !isNumber(value)) continue;
    found ??= { first: i, lowest: i, highest: i, last: i };
    if (value < (y[found.lowest] ?? 0)) found.lowest = i;
    if (value > (y[found.highest] ?? 0)) found.highest = i;
    found.last = i;
  }
  return found;
}

function isNumber(value: number | null): boolean {
  return value !== null && Number.isFinite(value);
}
