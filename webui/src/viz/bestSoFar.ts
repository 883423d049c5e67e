// The best value so far along a search. Pure.
import type { Better } from "../chart/types";

export interface HistoryValue {
  x: number;
  y: number;
}

/** Corners of the best-so-far line: where it starts, each improvement, and the end. */
export function bestSoFar(points: readonly HistoryValue[], better: Better): [number, number][] {
  const ordered = points.filter(({ y }) => Number.isFinite(y)).sort((a, b) => a.x - b.x);
  const corners: [number, number][] = [];
  let best: number | null = null;
  for (const { x, y } of ordered) {
    if (best !== null && (better === "lower" ? y >= best : y <= best)) continue;
    best = y;
    corners.push([x, y]);
  }
  const last = ordered.at(-1);
  if (best !== null && last !== undefined && corners.at(-1)?.[0] !== last.x) corners.push([last.x, best]);
  return corners;
}
