// Each trial a point on two axes, coloured by a metric where one is given.
import { useMemo } from "react";
import { useInk } from "../chart/ink";
import { valueWord } from "./axis";
import { ColourBar } from "./ColourBar";
import type { Id, VizAxis, VizValue } from "./types";
import { viridisOn } from "./viridis";
import styles from "./viz.module.css";
import { type Mark, XYPlot } from "./XYPlot";

export interface ScatterPoint {
  id: Id;
  x: VizValue;
  y: VizValue;
  metric?: number;
  label?: string;
}

export interface ScatterProps {
  points: readonly ScatterPoint[];
  xAxis: VizAxis;
  yAxis: VizAxis;
  metricLabel?: string | undefined;
  title?: string | undefined;
  height?: number | undefined;
  onPick?: ((id: Id) => void) | undefined;
}

export function Scatter({ points, xAxis, yAxis, metricLabel, title, height = 320, onPick }: ScatterProps) {
  const { dark } = useInk();
  const metrics = points.flatMap(({ metric }) => (metric !== undefined && Number.isFinite(metric) ? [metric] : []));
  const lo = metrics.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const hi = metrics.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const marks = useMemo(() => points.map((point) => markOf(point, lo, hi, dark)), [points, lo, hi, dark]);
  const columns = ["trial", xAxis.label, yAxis.label, ...(metricLabel === undefined ? [] : [metricLabel])];
  const rows = () =>
    points.map(({ id, label, x, y, metric }) =>
      [label ?? String(id), valueWord(x), valueWord(y), valueWord(metric)].slice(0, columns.length),
    );
  return (
    <div className={styles.withBar}>
      <XYPlot
        title={title ?? `${yAxis.label} by ${xAxis.label}`}
        marks={marks}
        xAxis={xAxis}
        yAxis={yAxis}
        height={height}
        onPick={onPick}
        columns={columns}
        rows={rows}
      />
      {metricLabel !== undefined && hi > lo && (
        <ColourBar label={metricLabel} lo={lo} hi={hi} colour={(unit) => viridisOn(dark, unit)} />
      )}
    </div>
  );
}

function markOf(point: ScatterPoint, lo: number, hi: number, dark: boolean): Mark {
  const { id, x, y, metric, label = `trial ${id}` } = point;
  if (metric === undefined || !(hi > lo)) return { id, x, y, label };
  return { id, x, y, label, colour: viridisOn(dark, (metric - lo) / (hi - lo)) };
}
