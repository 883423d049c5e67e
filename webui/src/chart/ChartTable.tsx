// A chart's table twin: every reported x in view with each series' own value there.

import { useMemo } from "react";
import { metricNumber } from "../ui/format";
import { twinRows } from "./csv";
import type { Line } from "./lines";
import type { Scale } from "./scale";
import { TableTwin } from "./TableTwin";
import { wordOf } from "./ticks";
import type { XKind } from "./types";

interface ChartTableProps {
  title: string;
  lines: readonly Line[];
  x: Scale;
  xLabel: string;
  xKind: XKind;
  height: number;
}

export function ChartTable({ title, lines, x, xLabel, xKind, height }: ChartTableProps) {
  const rows = useMemo(() => twinRows(lines, x), [lines, x]);
  const bucketed = lines.some((line) => line.bucketed);
  const caption = `${title} by ${xLabel}${bucketed ? " (last value of each bucket)" : ""}`;
  const cells = useMemo(
    () => rows.map((row) => [wordOf(row.x, xKind), ...row.values.map((v) => (v === null ? "" : metricNumber(v)))]),
    [rows, xKind],
  );
  return (
    <TableTwin caption={caption} columns={[xLabel, ...lines.map((line) => line.name)]} rows={cells} height={height} />
  );
}
