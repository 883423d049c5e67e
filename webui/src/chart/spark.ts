// The path of a sparkline: even steps, gaps left open, the last value marked. Pure.

export interface Spark {
  path: string;
  end: readonly [number, number] | null;
}

const MARGIN = 3;

export function sparkPath(values: readonly (number | null)[], width: number, height: number): Spark {
  const numbers = values.filter((value): value is number => value !== null && Number.isFinite(value));
  const lo = numbers.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const hi = numbers.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const step = (width - 2 * MARGIN) / Math.max(1, values.length - 1);
  const toY = (value: number) =>
    hi === lo ? height / 2 : height - MARGIN - ((value - lo) / (hi - lo)) * (height - 2 * MARGIN);
  let path = "";
  let open = false;
  let end: Spark["end"] = null;
  for (const [i, value] of values.entries()) {
    if (value === null || !Number.isFinite(value)) {
      open = false;
      continue;
    }
    end = [rounded(MARGIN + i * step), rounded(toY(value))];
    path += `${open ? "L" : "M"}${end[0]} ${end[1]}`;
    open = true;
  }
  return { path, end };
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
