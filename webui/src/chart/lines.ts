// From series to lines ready to draw: looks, smoothing, who is shown and who only stands behind. Pure.
import { type Look, lookOf } from "./colour";
import { smoothed } from "./ema";
import { isBucketed, type Series } from "./types";

export interface Line {
  id: string;
  /** What a legend click isolates, the same in all charts of a group. */
  soloKey: string;
  name: string;
  look: Look;
  baseline: boolean;
  bucketed: boolean;
  x: readonly number[];
  /** The values as reported. */
  y: readonly (number | null)[];
  /** The values the line follows: `y`, or smoothed. */
  drawn: readonly (number | null)[];
  min?: readonly (number | null)[];
  max?: readonly (number | null)[];
  notFinite?: readonly number[];
}

export function linesOf(series: readonly Series[], smoothing: number): Line[] {
  const seen = new Map<number, number>();
  const many = trialsWithSeveral(series);
  return series.map((one) => lineOf(one, nthOfTrial(one, seen), many, smoothing));
}

/** Lines a legend click left over; a click on a series that has since gone isolates nothing. */
export function shownLines(lines: readonly Line[], solo: string | null): readonly Line[] {
  if (solo === null) return lines;
  const left = lines.filter((line) => line.soloKey === solo || line.baseline);
  return left.some((line) => line.soloKey === solo) ? left : lines;
}

function lineOf(series: Series, nth: number, many: ReadonlySet<number>, smoothing: number): Line {
  const alone = series.trialId !== undefined && !many.has(series.trialId);
  const line: Line = {
    id: series.id,
    soloKey: alone ? `trial ${series.trialId}` : series.id,
    name: series.name,
    look: series.colour === undefined ? lookOf(series, nth) : { colour: series.colour, dash: [] },
    baseline: series.baseline ?? false,
    bucketed: isBucketed(series),
    x: series.x,
    y: series.y,
    drawn: smoothing > 0 ? smoothed(series.x, series.y, smoothing) : series.y,
  };
  if (series.notFinite !== undefined) line.notFinite = series.notFinite;
  if (series.min !== undefined && series.max !== undefined) {
    line.min = series.min;
    line.max = series.max;
  }
  return line;
}

function nthOfTrial(series: Series, seen: Map<number, number>): number {
  if (series.trialId === undefined) return 0;
  const nth = seen.get(series.trialId) ?? 0;
  seen.set(series.trialId, nth + 1);
  return nth;
}

function trialsWithSeveral(series: readonly Series[]): ReadonlySet<number> {
  const once = new Set<number>();
  const twice = new Set<number>();
  for (const { trialId } of series) {
    if (trialId === undefined) continue;
    if (once.has(trialId)) twice.add(trialId);
    once.add(trialId);
  }
  return twice;
}

/** How many of the points that point `i` stands for are NaN or infinite. */
export function notFiniteAt(line: Line, i: number): number {
  const value = line.y[i];
  return line.notFinite?.[i] ?? (value === null || value === undefined || Number.isFinite(value) ? 0 : 1);
}
