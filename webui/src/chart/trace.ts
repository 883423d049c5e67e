// Traces pixels as paths: gaps stay open, and many points per pixel column keep their extremes.

export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

export interface DotPen extends Pen {
  arc(x: number, y: number, radius: number, from: number, to: number): void;
}

/** Places of a line's points; y is NaN at a gap. */
export interface Pixels {
  x: Float64Array;
  y: Float64Array;
}

type Place = (value: number) => number;

/** The values `first` to `last` (not included) as pixels, NaN at a gap. */
export function placesOf(values: readonly (number | null)[], first: number, last: number, to: Place): Float64Array {
  const places = new Float64Array(Math.max(0, last - first));
  for (let i = first; i < last; i++) {
    const value = values[i];
    places[i - first] = value === null || value === undefined || !Number.isFinite(value) ? Number.NaN : to(value);
  }
  return places;
}

export function traceLine(pen: Pen, pixels: Pixels, width: number): void {
  if (pixels.x.length > width * 2) traceColumns(pen, pixels);
  else tracePoints(pen, pixels);
}

/** Dots for points without a drawn neighbour, which a line would not show; for all points when there is room. */
export function traceDots(pen: DotPen, { x, y }: Pixels, radius: number, all: boolean): void {
  for (let i = 0; i < y.length; i++) {
    if (isGap(y, i) || !(all || (isGap(y, i - 1) && isGap(y, i + 1)))) continue;
    const left = x[i] ?? 0;
    pen.moveTo(left + radius, y[i] ?? 0);
    pen.arc(left, y[i] ?? 0, radius, 0, 2 * Math.PI);
  }
}

function tracePoints(pen: Pen, { x, y }: Pixels): void {
  let open = false;
  for (let i = 0; i < y.length; i++) {
    const top = y[i] ?? Number.NaN;
    if (Number.isNaN(top)) {
      open = false;
      continue;
    }
    if (open) pen.lineTo(x[i] ?? 0, top);
    else pen.moveTo(x[i] ?? 0, top);
    open = true;
  }
}

function traceColumns(pen: Pen, pixels: Pixels): void {
  let open = false;
  for (let i = 0; i < pixels.y.length; ) {
    if (isGap(pixels.y, i)) {
      open = false;
      i++;
      continue;
    }
    const end = columnEnd(pixels, i);
    traceColumn(pen, pixels, i, end, open);
    open = true;
    i = end;
  }
}

/** One past the last drawn point in the pixel column of point `i`. */
function columnEnd({ x, y }: Pixels, i: number): number {
  const column = Math.floor(x[i] ?? 0);
  let end = i + 1;
  while (end < y.length && Math.floor(x[end] ?? 0) === column && !isGap(y, end)) end++;
  return end;
}

function traceColumn(pen: Pen, { x, y }: Pixels, from: number, end: number, open: boolean): void {
  const left = Math.floor(x[from] ?? 0) + 0.5;
  const entry = y[from] ?? 0;
  let low = entry;
  let high = entry;
  for (let i = from + 1; i < end; i++) {
    const top = y[i] ?? 0;
    if (top < low) low = top;
    if (top > high) high = top;
  }
  // Two corners tell a column; the one nearer to where the line enters comes first.
  const risesFirst = Math.abs(entry - low) <= Math.abs(entry - high);
  const near = risesFirst ? low : high;
  if (open) pen.lineTo(left, near);
  else pen.moveTo(left, near);
  if (low !== high) pen.lineTo(left, risesFirst ? high : low);
}

function isGap(y: Float64Array, i: number): boolean {
  return Number.isNaN(y[i] ?? Number.NaN);
}
