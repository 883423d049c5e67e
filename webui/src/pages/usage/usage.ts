// Slot-hours by day or month and by whom. Pure.
import type { Schemas } from "../../api/schema";

export type Entry = Schemas["ResourceAllocationAggregatedEntry"];
export type Period = "day" | "month";
export type Grouping = "user" | "project" | "pool" | "label";

export const GROUPINGS: readonly { id: Grouping; label: string }[] = [
  { id: "user", label: "User" },
  { id: "project", label: "Project" },
  { id: "pool", label: "Resource pool" },
  { id: "label", label: "Label" },
];

const FIELDS = {
  user: "byUsername",
  project: "byProject",
  pool: "byResourcePool",
  label: "byExperimentLabel",
} as const;
const HOUR = 3600;
const DAY_MS = 86_400_000;

export interface Share {
  name: string;
  hours: number;
}

/** What each used in all of the range, the most first. */
export function sharesOf(entries: readonly Entry[], grouping: Grouping): Share[] {
  const sums = new Map<string, number>();
  for (const entry of entries) {
    for (const [name, seconds] of Object.entries(entry[FIELDS[grouping]] ?? {})) {
      sums.set(name, (sums.get(name) ?? 0) + seconds);
    }
  }
  return [...sums]
    .map(([name, seconds]) => ({ name, hours: seconds / HOUR }))
    .filter(({ hours }) => hours > 0)
    .sort((a, b) => b.hours - a.hours || (a.name < b.name ? -1 : 1));
}

export function totalHours(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + entry.seconds, 0) / HOUR;
}

/** Hours of one group (null: of all) in every period; x in seconds since 1970. */
export function seriesOf(
  entries: readonly Entry[],
  grouping: Grouping,
  name: string | null,
): { x: number[]; y: number[] } {
  const value = (entry: Entry) => (name === null ? entry.seconds : (entry[FIELDS[grouping]]?.[name] ?? 0));
  return { x: entries.map(({ periodStart }) => startOf(periodStart)), y: entries.map((entry) => value(entry) / HOUR) };
}

/** One line per period and group, as a spreadsheet reads it; what it would take for a formula is disarmed. */
export function csvOf(entries: readonly Entry[], grouping: Grouping, period: Period): string {
  const rows = entries.flatMap((entry) =>
    Object.entries(entry[FIELDS[grouping]] ?? {}).map(([name, seconds]) => [
      entry.periodStart,
      name,
      (seconds / HOUR).toFixed(4),
    ]),
  );
  return [[period, grouping, "slot_hours"], ...rows]
    .map((row) => row.map(cell).join(","))
    .join("\n")
    .concat("\n");
}

/** The last `days` days up to today, as the API writes dates (UTC). */
export function lastDays(days: number, now: number): { from: string; to: string } {
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  return { from: day(now - (days - 1) * DAY_MS), to: day(now) };
}

/** What is wrong with a range; null when it can be asked for. */
export function rangeProblem(from: string, to: string): string | null {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  if (Number.isNaN(first) || Number.isNaN(last)) return "Choose both days";
  return last < first ? "The end is before the beginning" : null;
}

function startOf(period: string): number {
  return Date.parse(period.length === 7 ? `${period}-01` : period) / 1000;
}

function cell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
