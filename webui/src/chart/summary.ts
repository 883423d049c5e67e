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

/** The value as reported, the smoothed one beside it where the line follows that; none where the line has ended. */
export function valueAt(line: Line, x: number | null): string {
  const index = x === null ? lastIndex(line) : isBeside(line, x) ? null : nearestIndex(line, x);
  const value = index === null ? null : line.y[index];
  if (index === null || value === null || value === undefined) return "–";
  const drawn = line.drawn[index];
  const isSmoothed = line.drawn !== line.y && drawn !== null && drawn !== undefined && Number.isFinite(drawn);
  return isSmoothed ? `${metricNumber(value)} (smoothed ${metricNumber(drawn)})` : metricNumber(value);
}

function lastIndex({ y }: Line): number | null {
  for (let i = y.length - 1; i >= 0; i--) if (y[i] !== null && y[i] !== undefined) return i;
  return null;
}

/** Before the first or past the last point, by more than half of a step there. */
function isBeside({ x }: Line, at: number): boolean {
  const first = x[0];
  const last = x.at(-1);
  if (first === undefined || last === undefined) return true;
  const lead = ((x[1] ?? first) - first) / 2;
  const tail = (last - (x.at(-2) ?? last)) / 2;
  return at < first - lead || at > last + tail;
}

function lineSummary(line: Line, axes: Axes): string {
  const found = landmarks(line);
  if (found === null) return `${line.name}: no values.`;
  const say = (word: string, i: number, values = line.y) => {
    // an extreme of a bucket lies somewhere in it; its x is that of the bucket's end
    const at = values === line.y ? "at" : "near";
    const x = wordOf(line.x[i] ?? Number.NaN, axes.xKind);
    return `${word} ${metricNumber(values[i] ?? Number.NaN)} ${at} ${axes.xLabel} ${x}`;
  };
  const { first, lowest, highest, last } = found;
  const low = (word: string) => say(word, lowest, line.min);
  const high = (word: string) => say(word, highest, line.max);
  return `${line.name}: ${[say("first", first), ...bestWords(axes.better, low, high), say("last", last)].join(", ")}.`;
}

function bestWords(
  better: Better | undefined,
  low: (word: string) => string,
  high: (word: string) => string,
): string[] {
  if (better === "lower") return [low("best")];
  if (better === "higher") return [high("best")];
  return [low("lowest"), high("highest")];
}

interface Landmarks {
  first: number;
  lowest: number;
  highest: number;
  last: number;
}

/** Indices of the values that stand for the line, found in one pass because lines may be long. */
function landmarks({ y, min = y, max = y }: Line): Landmarks | null {
  let found: Landmarks | null = null;
  for (let i = 0; i < y.length; i++) {
    if (!isNumber(y[i] ?? null)) continue;
    found ??= { first: i, lowest: i, highest: i, last: i };
    found.last = i;
  }
  if (found === null) return null;
  for (let i = 0; i < y.length; i++) {
    if (isNumber(min[i] ?? null) && Number(min[i]) < Number(min[found.lowest] ?? Number.NaN)) found.lowest = i;
    if (isNumber(max[i] ?? null) && Number(max[i]) > Number(max[found.highest] ?? Number.NaN)) found.highest = i;
  }
  return found;
}

function isNumber(value: number | null): boolean {
  return value !== null && Number.isFinite(value);
}
