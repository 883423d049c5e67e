// Hit testing: the point of a line nearest to an x, the line nearest to the pointer, and steps for the keyboard. Pure.
import { lowerBound } from "./frame";
import type { Line } from "./lines";

/** Index of the drawn point nearest to `x`; gaps are passed over. */
export function nearestIndex(line: Line, x: number): number | null {
  const right = seek(line, lowerBound(line.x, x, false), 1);
  const left = seek(line, lowerBound(line.x, x, false) - 1, -1);
  if (left === null || right === null) return left ?? right;
  const toLeft = x - (line.x[left] ?? 0);
  return toLeft <= (line.x[right] ?? 0) - x ? left : right;
}

export interface Hit {
  line: Line;
  index: number;
}

/** The line whose nearest point at `x` lies closest to `y` in the pixels that `toPixel` gives. */
export function nearestLine(
  lines: readonly Line[],
  x: number,
  y: number,
  toPixel: (value: number) => number,
): Hit | null {
  let best: Hit | null = null;
  let bestGap = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const index = nearestIndex(line, x);
    if (index === null) continue;
    const gap = Math.abs(toPixel(line.drawn[index] ?? Number.NaN) - y);
    if (gap < bestGap) {
      best = { line, index };
      bestGap = gap;
    }
  }
  return best;
}

/** The next reported x in a direction among all lines, or null at the end. */
export function stepFrom(lines: readonly Line[], from: number, direction: 1 | -1): number | null {
  let best: number | null = null;
  for (const { x } of lines) {
    const at = direction === 1 ? x[lowerBound(x, from, true)] : x[lowerBound(x, from, false) - 1];
    if (at === undefined) continue;
    if (best === null || (at - best) * direction < 0) best = at;
  }
  return best;
}

function seek(line: Line, from: number, direction: 1 | -1): number | null {
  for (let i = from; i >= 0 && i < line.x.length; i += direction) {
    const value = line.drawn[i];
    if (value !== null && value !== undefined && Number.isFinite(value)) return i;
  }
  return null;
}
