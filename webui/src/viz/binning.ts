// Heat-map cells: bins along two axes and the mean of what falls into each. Pure.

import { type Scale, toValue } from "../chart/scale";
import { type AxisScale, axisScale, unitOf, valueWord } from "./axis";
import type { Id, VizAxis, VizValue } from "./types";

export interface HeatPoint {
  id: Id;
  x: VizValue;
  y: VizValue;
  value: number;
}

export interface Cell {
  mean: number;
  n: number;
  ids: Id[];
}

export interface Heat {
  columns: string[];
  rows: string[];
  /** `cells[row][column]`, null where no trial lies. */
  cells: (Cell | null)[][];
  lo: number;
  hi: number;
}

const BINS = 8;
/** More distinct values than this are put into ranges: cells of one trial each say nothing. */
const MOST_DISTINCT = BINS;

export function heatOf(points: readonly HeatPoint[], xAxis: VizAxis, yAxis: VizAxis): Heat {
  const usable = points.filter((point) => Number.isFinite(point.value));
  const across = binsOf(
    xAxis,
    usable.map((point) => point.x),
  );
  const down = binsOf(
    yAxis,
    usable.map((point) => point.y),
  );
  const cells = down.labels.map(() => across.labels.map((): Cell | null => null));
  for (const point of usable) {
    const row = cells[down.binOf(point.y)];
    const column = across.binOf(point.x);
    if (row !== undefined && column in row) row[column] = added(row[column] ?? null, point);
  }
  const means = cells.flat().flatMap((cell) => (cell === null ? [] : [cell.mean]));
  return { columns: across.labels, rows: down.labels, cells, lo: Math.min(...means), hi: Math.max(...means) };
}

interface Bins {
  labels: string[];
  binOf(value: VizValue): number;
}

function binsOf(axis: VizAxis, values: readonly VizValue[]): Bins {
  const scale = axisScale(axis, values);
  if (scale.kind === "category")
    return { labels: [...scale.values], binOf: (value) => scale.values.indexOf(String(value)) };
  const distinct = [...new Set(values)].filter((value) => typeof value === "number").sort((a, b) => a - b);
  if (distinct.length <= MOST_DISTINCT) {
    return {
      labels: distinct.map(valueWord),
      binOf: (value) => (typeof value === "number" ? distinct.indexOf(value) : -1),
    };
  }
  return rangeBins(scale);
}

function rangeBins(axis: Extract<AxisScale, { kind: "number" }>): Bins {
  const binOf = (value: VizValue) => Math.min(BINS - 1, Math.floor(unitOf(axis, value) * BINS));
  return { labels: rangeLabels(axis.scale), binOf };
}

/** As few digits as keep the edges apart. */
function rangeLabels(scale: Scale): string[] {
  const edges = Array.from({ length: BINS + 1 }, (_, i) => toValue(scale, i / BINS));
  const written = [2, 3, 6, 15].map((digits) => edges.map((edge) => valueWord(Number(edge.toPrecision(digits)))));
  const words = written.find((all) => new Set(all).size === all.length) ?? edges.map(String);
  return words.slice(1).map((word, i) => `${words[i]} – ${word}`);
}

function added(cell: Cell | null, point: HeatPoint): Cell {
  if (cell === null) return { mean: point.value, n: 1, ids: [point.id] };
  const n = cell.n + 1;
  return { mean: cell.mean + (point.value - cell.mean) / n, n, ids: [...cell.ids, point.id] };
}
