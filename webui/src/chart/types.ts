// The words charts speak: series as pages hand them over, markers and ranges.

export interface Series {
  id: string;
  name: string;
  trialId?: number;
  /** Instead of the trial's own: what the page says this line's colour stands for. */
  colour?: string;
  x: number[];
  y: (number | null)[];
  min?: (number | null)[];
  max?: (number | null)[];
  /** How many of the points that each stands for are NaN or infinite. */
  notFinite?: number[];
  baseline?: boolean;
  /** False when a point stands for a bucket of steps; absent counts as exact unless a band is given. */
  exact?: boolean;
}

export interface Marker {
  x: number;
  label: string;
}

export type Range = readonly [number, number];

export type XKind = "number" | "time" | "duration";

export type Better = "lower" | "higher";

export function isBucketed(series: Series): boolean {
  return !(series.exact ?? series.min === undefined);
}
