// The chart by keyboard: where a key moves the cursor to and how keys zoom. Pure.
import type { Line } from "./lines";
import { stepFrom } from "./nearest";
import { type Scale, toUnit, toValue } from "./scale";
import type { Range } from "./types";

const LEAP = 10;

/** The cursor's next x, null when the key puts it away, undefined when the key means something else. */
export function cursorAfter(
  key: string,
  lines: readonly Line[],
  x: Scale,
  cursor: number | null,
): number | null | undefined {
  switch (key) {
    case "ArrowRight":
      return walk(lines, x, cursor ?? before(x), 1, 1) ?? cursor;
    case "ArrowLeft":
      return walk(lines, x, cursor ?? after(x), -1, 1) ?? cursor;
    case "PageDown":
      return walk(lines, x, cursor ?? before(x), 1, LEAP) ?? cursor;
    case "PageUp":
      return walk(lines, x, cursor ?? after(x), -1, LEAP) ?? cursor;
    case "Home":
      return walk(lines, x, before(x), 1, 1);
    case "End":
      return walk(lines, x, after(x), -1, 1);
    case "Escape":
      return null;
    default:
      return undefined;
  }
}

/** The range after a zoom key, null for all, undefined when the key is no zoom key. */
export function rangeAfter(key: string, x: Scale, cursor: number | null): Range | null | undefined {
  if (key === "0") return null;
  if (key === "+" || key === "=") return zoomed(x, cursor, 0.5);
  if (key === "-") return zoomed(x, cursor, 2);
  return undefined;
}

function zoomed(x: Scale, cursor: number | null, factor: number): Range {
  const around = cursor === null ? 0.5 : Math.min(1, Math.max(0, toUnit(x, cursor)));
  return [toValue(x, around - around * factor), toValue(x, around + (1 - around) * factor)];
}

function walk(lines: readonly Line[], x: Scale, from: number, direction: 1 | -1, steps: number): number | null {
  let at: number | null = null;
  for (let n = 0; n < steps; n++) {
    const next = stepFrom(lines, at ?? from, direction);
    if (next === null || next < x.lo || next > x.hi) break;
    at = next;
  }
  return at;
}

function before(x: Scale): number {
  return x.lo - (x.hi - x.lo) * 1e-9;
}

function after(x: Scale): number {
  return x.hi + (x.hi - x.lo) * 1e-9;
}
