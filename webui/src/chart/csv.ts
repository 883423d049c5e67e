// The numbers of a chart as CSV, one row per reported point, and as rows of the table twin. Pure.
import { lowerBound } from "./frame";
import type { Line } from "./lines";

export function csvOf(lines: readonly Line[], xLabel: string, yLabel: string): string {
  const rows = [["series", xLabel, yLabel, "min", "max"]];
  for (const line of lines) {
    for (const [i, x] of line.x.entries()) {
      rows.push([line.name, ...[x, line.y[i], line.min?.[i], line.max?.[i]].map(number)]);
    }
  }
  return csvRows(rows);
}

export function csvRows(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

export interface TwinRow {
  x: number;
  values: (number | null)[];
}

/** The ascending x of all lines with each line's own value there; null where a line has none. */
export function twinRows(lines: readonly Line[], range: { lo: number; hi: number }): TwinRow[] {
  const all = new Set<number>();
  for (const { x } of lines) for (const at of x) if (at >= range.lo && at <= range.hi) all.add(at);
  const sorted = [...all].sort((a, b) => a - b);
  return sorted.map((x) => ({ x, values: lines.map((line) => exactAt(line, x)) }));
}

function exactAt(line: Line, x: number): number | null {
  const i = lowerBound(line.x, x, false);
  return line.x[i] === x ? (line.y[i] ?? null) : null;
}

/** Text that a spreadsheet would run as a formula is written as text; a negative number stays one. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function number(value: number | null | undefined): string {
  return value === null || value === undefined ? "" : String(value);
}
