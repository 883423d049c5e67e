import { describe, expect, it } from "vitest";
import { columnsOf, traceBand, traceSpikes } from "./band";
import { type Pixels, placesOf, traceDots, traceLine } from "./trace";

function recorder() {
  const moves: string[] = [];
  return {
    moves,
    moveTo: (x: number, y: number) => moves.push(`M${x},${y}`),
    lineTo: (x: number, y: number) => moves.push(`L${x},${y}`),
    arc: (x: number, y: number) => moves.push(`o${x},${y}`),
  };
}

const pixels = (y: (number | null)[], squeeze = 1): Pixels => ({
  x: Float64Array.from(y, (_, i) => i * squeeze),
  y: placesOf(y, 0, y.length, (value) => value),
});

const columns = (upper: (number | null)[], lower: (number | null)[], squeeze: number, width: number) =>
  columnsOf(pixels(upper, squeeze).x, pixels(upper).y, pixels(lower).y, 0, width);

describe("a line", () => {
  it("is open at nulls, NaN and infinities", () => {
    const pen = recorder();
    traceLine(pen, pixels([1, 2, null, 3, Number.NaN, Number.POSITIVE_INFINITY, 4]), 100);
    expect(pen.moves).toEqual(["M0,1", "L1,2", "M3,3", "M6,4"]);
  });

  it("keeps a one-step spike among a million points", () => {
    const y = Array.from({ length: 1_000_000 }, (_, i) => (i === 654_321 ? 999 : 0));
    const pen = recorder();
    traceLine(pen, pixels(y, 800 / 1_000_000), 800);
    expect(pen.moves.filter((move) => move.endsWith(",999"))).toHaveLength(1);
    expect(pen.moves.length).toBeLessThan(2 * 801);
  });

  it("keeps a gap among many points per pixel", () => {
    const y: (number | null)[] = Array.from({ length: 4000 }, () => 1);
    y[2000] = null;
    const pen = recorder();
    traceLine(pen, pixels(y, 0.1), 400);
    expect(pen.moves.filter((move) => move.startsWith("M"))).toHaveLength(2);
  });
});

describe("dots", () => {
  it("show points without neighbours", () => {
    const pen = recorder();
    traceDots(pen, pixels([1, null, 3, 4, null, 5]), 2, false);
    expect(pen.moves.filter((move) => move.startsWith("o"))).toEqual(["o0,1", "o5,5"]);
  });

  it("show all points when there is room", () => {
    const pen = recorder();
    traceDots(pen, pixels([1, 2, 3]), 2, true);
    expect(pen.moves.filter((move) => move.startsWith("o"))).toHaveLength(3);
  });
});

describe("a band", () => {
  it("fills every column between two buckets", () => {
    const band = columns([10, 20], [30, 40], 4, 5);
    expect([...band.top]).toEqual([10, 13.75, 16.25, 18.75, 20]);
    expect([...band.bottom]).toEqual([30, 33.75, 36.25, 38.75, 40]);
  });

  it("keeps the extremes of all buckets in a column", () => {
    const band = columns([10, 2, 11], [30, 31, 90], 0.1, 1);
    expect([band.top[0], band.bottom[0]]).toEqual([2, 90]);
  });

  it("ends at a gap in either edge", () => {
    const band = columns([1, null, 1, 1], [5, 5, 5, null], 1, 4);
    expect([...band.top].map(Number.isNaN)).toEqual([false, true, false, true]);
  });

  it("is one upright stroke per column", () => {
    const pen = recorder();
    traceBand(pen, columns([1, 2], [5, 6], 1, 2));
    expect(pen.moves).toEqual(["M0.5,1", "L0.5,5", "M1.5,2", "L1.5,6"]);
  });

  it("marks a spike of one bucket, upwards and downwards, and nothing else", () => {
    const pen = recorder();
    traceSpikes(pen, columns([50, 50, 5, 50, 50, 50, 50], [60, 60, 60, 60, 60, 99, 60], 1, 7), 6);
    expect(pen.moves).toEqual(["M2.5,5", "L2.5,60", "M5.5,50", "L5.5,99"]);
  });
});
