// Numbers and times as people read them.
import { expect, test } from "vitest";
import {
  ago,
  bytes,
  count,
  deltaText,
  duration,
  jsonText,
  metricNumber,
  plural,
  secondsBetween,
  straight,
} from "./format";

const NOW = Date.parse("2026-11-15T12:00:00Z");

test("times say how long ago they were", () => {
  expect(ago("2026-11-15T11:59:58Z", NOW)).toBe("just now");
  expect(ago("2026-11-15T11:57:00Z", NOW)).toBe("3 min. ago");
  expect(ago("2026-11-14T12:00:00Z", NOW)).toBe("yesterday");
  expect(ago(null, NOW)).toBe("");
  expect(ago("nonsense", NOW)).toBe("");
});

test("durations show their two largest units", () => {
  expect(duration(0.42)).toBe("0.4s");
  expect(duration(12)).toBe("12s");
  expect(duration(200)).toBe("3m 20s");
  expect(duration(7500)).toBe("2h 5m");
  expect(duration(100_800)).toBe("1d 4h");
  expect(duration(86_400 + 30)).toBe("1d");
  expect(duration(null)).toBe("");
});

test("an open end is now", () => {
  expect(secondsBetween("2026-11-15T11:59:00Z", null, NOW)).toBe(60);
  expect(secondsBetween(null, null, NOW)).toBeNull();
});

test("metric numbers keep six digits and never hide what is not finite", () => {
  expect(metricNumber(0.123456789)).toBe("0.123457");
  expect(metricNumber(1.5e-7)).toBe("1.5e-7");
  expect(metricNumber(0)).toBe("0");
  expect(metricNumber(1_234_567)).toBe("1234567");
  expect(metricNumber("NaN")).toBe("NaN");
  expect(metricNumber("-Infinity")).toBe("-Infinity");
  expect(metricNumber(2.5e12)).toBe("2.5e12");
  expect(metricNumber(null)).toBe("");
});

test("sizes are in binary units", () => {
  expect(bytes(1023)).toBe("1023 B");
  expect(bytes("1610612736")).toBe("1.5 GiB");
  expect(bytes("")).toBe("");
});

test("counts have separators and words their plural", () => {
  expect(count(12_345)).toBe("12,345");
  expect(count(1_234_567, true)).toBe("1.2M");
  expect(plural(1, "trial")).toBe("1 trial");
  expect(plural(2, "trial")).toBe("2 trials");
});

test("words that turn the direction of writing are spelled out or left out", () => {
  expect(jsonText({ a: "x\u202ey\u001b" })).toBe('{\n  "a": "x\\u202ey\\u001b"\n}');
  expect(straight("x\u202ey\u2066")).toBe("xy");
});

test("a difference has a sign, and a share of what it is measured against", () => {
  expect(deltaText(0.75, 0.5)).toBe("+0.25 (+50 %)");
  expect(deltaText(0.25, 0.5)).toBe("−0.25 (−50 %)");
  expect(deltaText(-1, -2)).toBe("+1 (+50 %)");
  expect(deltaText(3, 0)).toBe("+3");
  expect(deltaText(2, 2)).toBe("±0");
  expect(deltaText(Number.POSITIVE_INFINITY, 1)).toBe("+Infinity");
  expect(deltaText(Number.NaN, 1)).toBe("");
});
