// Sums, series and CSV of usage.
import { expect, test } from "vitest";
import { csvOf, type Entry, lastDays, rangeProblem, seriesOf, sharesOf, totalHours } from "./usage";

const entry = (periodStart: string, users: Record<string, number>): Entry => ({
  periodStart,
  period: "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_DAILY",
  seconds: Object.values(users).reduce((sum, one) => sum + one, 0),
  byUsername: users,
  byExperimentLabel: {},
  byResourcePool: {},
});
const entries = [entry("2026-11-14", { ada: 3600 }), entry("2026-11-15", { ada: 1800, "=cmd": 7200 })];

test("shares are summed over the range, the most first", () => {
  expect(sharesOf(entries, "user")).toEqual([
    { name: "=cmd", hours: 2 },
    { name: "ada", hours: 1.5 },
  ]);
  expect(sharesOf(entries, "project")).toEqual([]);
  expect(totalHours(entries)).toBe(3.5);
});

test("a series has every period, also those without use", () => {
  expect(seriesOf(entries, "user", "=cmd")).toEqual({ x: [1794614400, 1794700800], y: [0, 2] });
  expect(seriesOf(entries, "user", null).y).toEqual([1, 2.5]);
});

test("CSV carries no formula and quotes what needs it", () => {
  expect(csvOf([entry("2026-11-14", { 'a,"b"': 3600, "=x": 36 })], "user", "day")).toBe(
    'day,user,slot_hours\n2026-11-14,"a,""b""",1.0000\n2026-11-14,\'=x,0.0100\n',
  );
});

test("a range ends today and is checked", () => {
  expect(lastDays(30, Date.parse("2026-11-15T18:00:00Z"))).toEqual({ from: "2026-10-17", to: "2026-11-15" });
  expect(rangeProblem("2026-11-01", "2026-11-15")).toBeNull();
  expect(rangeProblem("2026-11-16", "2026-11-15")).toContain("before");
  expect(rangeProblem("", "2026-11-15")).toContain("both");
});
