import { expect, test } from "vitest";
import { grown, joined, sinceOf } from "./growing";
import type { WireSeries, WireTrialSeries } from "./series";

const exact = (x: number[], last: unknown[] = x): WireSeries => ({
  name: "loss",
  group: "training",
  x,
  last,
  min: last,
  max: last,
  count: x.map(() => 1),
  notFinite: last.some((v) => typeof v !== "number") ? last.map((v) => (typeof v === "number" ? 0 : 1)) : [],
  exact: true,
});
const trial = (metrics: WireSeries[], token: string, continues = true): WireTrialSeries => ({
  trialId: 7,
  metrics,
  positions: [{ group: "training", token, continues }],
});
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

test("new points follow, and those at hand are not doubled", () => {
  expect(grown(exact([1, 2, 3]), exact([3, 4]), 10)?.x).toEqual([1, 2, 3, 4]);
});

test("point by point gives the buckets that all points at once give", () => {
  let step: WireSeries | null = exact([1]);
  for (const x of numbers(2, 23)) step = step && grown(step, exact([x]), 8);
  const once = grown(exact([1]), exact(numbers(2, 23)), 8);
  expect(step).toEqual(once);
  expect(step?.exact).toBe(false);
  expect(step?.count).toEqual([4, 4, 4, 4, 4, 3]);
  expect(step?.max).toEqual([4, 8, 12, 16, 20, 23]);
  expect(step?.min).toEqual([1, 5, 9, 13, 17, 21]);
});

test("what is not finite is counted, and is no extreme", () => {
  const found = grown(exact([1, 2]), exact([3, 4], ["NaN", 5]), 2);
  expect(found?.notFinite).toEqual([0, 1]);
  expect(found?.max).toEqual([2, 5]);
  expect(found?.last).toEqual([2, 5]);
});

test("a new part that is in buckets itself, or steps back, cannot be put behind", () => {
  expect(grown(exact([1]), { ...exact([2, 3]), exact: false }, 10)).toBeNull();
  expect(grown(exact([1]), exact([3, 2]), 10)).toBeNull();
});

test("a group that does not go on replaces what was held; without news nothing changes", () => {
  const held = [trial([exact([1, 2, 3])], "a")];
  expect(joined(held, [trial([exact([3])], "a")], 10)).toBe(held);
  expect(joined(held, [trial([exact([1, 9])], "b", false)], 10)?.[0]?.metrics[0]?.x).toEqual([1, 9]);
  expect(sinceOf(held)).toEqual(["7/training/a"]);
});

test("a metric that was not there before comes in whole", () => {
  const other = { ...exact([3]), name: "acc" };
  const found = joined([trial([exact([1, 2, 3])], "a")], [trial([exact([3, 4]), other], "b")], 10);
  expect(found?.[0]?.metrics.map((one) => [one.name, one.x.length])).toEqual([
    ["loss", 4],
    ["acc", 1],
  ]);
});
