// Trials under several objectives: the front, which no other trial beats in all of them, stands out; two axes at a time.
import { useMemo, useState } from "react";
import type { Better } from "../chart/types";
import { metricNumber, straight } from "../ui/format";
import { Select } from "../ui/Select";
import type { Id } from "./types";
import styles from "./viz.module.css";
import { XYPlot } from "./XYPlot";

export interface Objective {
  label: string;
  kind: "linear" | "log";
  better: Better;
}

export interface ParetoPoint {
  id: Id;
  values: readonly number[];
  label?: string;
}

export interface ParetoProps {
  points: readonly ParetoPoint[];
  front: readonly Id[];
  axes: readonly Objective[];
  title?: string | undefined;
  height?: number | undefined;
  onPick?: ((id: Id) => void) | undefined;
}

export function Pareto({ points, front, axes, title = "Pareto front", height = 320, onPick }: ParetoProps) {
  const [x, setX] = useState(0);
  const [y, setY] = useState(1);
  const onFront = useMemo(() => new Set(front), [front]);
  const marks = useMemo(
    () => points.map((point) => markOf(point, x, y, onFront.has(point.id))),
    [points, x, y, onFront],
  );
  const corners = useMemo(() => cornersOf(points, onFront, x, y), [points, onFront, x, y]);
  const [across, up] = [axes[x], axes[y]];
  const xAxis = useMemo(() => ({ key: "x", label: labelOf(across), kind: across?.kind ?? "linear" }), [across]);
  const yAxis = useMemo(() => ({ key: "y", label: labelOf(up), kind: up?.kind ?? "linear" }), [up]);
  const options = axes.map((axis, i) => ({ id: String(i), label: axis.label }));
  const rows = () =>
    points.map(({ id, label, values }) => [
      label ?? String(id),
      ...values.map((value) => metricNumber(value)),
      onFront.has(id) ? "yes" : "no",
    ]);
  return (
    <div>
      {axes.length > 2 && (
        <div className={styles.controls}>
          <Select label="Across" value={String(x)} options={options} onChange={(id) => setX(Number(id))} />
          <Select label="Up" value={String(y)} options={options} onChange={(id) => setY(Number(id))} />
        </div>
      )}
      <XYPlot
        title={title}
        words={`${front.length} of ${points.length} trials are on the front (ringed): no other is better in every objective.`}
        marks={marks}
        steps={axes.length === 2 ? corners : NO_CORNERS}
        xAxis={xAxis}
        yAxis={yAxis}
        height={height}
        onPick={onPick}
        columns={["trial", ...axes.map(labelOf), "on the front"]}
        rows={rows}
      />
    </div>
  );
}

const NO_CORNERS: readonly (readonly [number, number])[] = [];

function markOf({ id, values, label = `trial ${id}` }: ParetoPoint, x: number, y: number, strong: boolean) {
  const colour = strong ? "var(--series-1)" : "var(--series-7)";
  return { id, x: values[x] ?? Number.NaN, y: values[y] ?? Number.NaN, label, strong, colour };
}

/** With two objectives the front is a staircase; with more its shadow on two axes is none. */
function cornersOf(points: readonly ParetoPoint[], onFront: ReadonlySet<Id>, x: number, y: number): [number, number][] {
  return points
    .filter(({ id }) => onFront.has(id))
    .map(({ values }): [number, number] => [values[x] ?? Number.NaN, values[y] ?? Number.NaN])
    .sort((a, b) => a[0] - b[0]);
}

function labelOf(axis: Objective | undefined): string {
  return axis === undefined ? "" : `${straight(axis.label)} (${axis.better} is better)`;
}
