// The course of a search: every trial's value in order, and the best so far as a line.
import { useMemo } from "react";
import type { Better } from "../chart/types";
import { metricNumber } from "../ui/format";
import { bestSoFar } from "./bestSoFar";
import type { Id, VizAxis } from "./types";
import { XYPlot } from "./XYPlot";

export interface HistoryPoint {
  id: Id;
  x: number;
  y: number;
  label?: string;
}

export interface HistoryProps {
  points: readonly HistoryPoint[];
  best: Better;
  xLabel: string;
  yLabel: string;
  logY?: boolean | undefined;
  title?: string | undefined;
  height?: number | undefined;
  onPick?: ((id: Id) => void) | undefined;
}

export function History({ points, best, xLabel, yLabel, logY = false, title, height = 320, onPick }: HistoryProps) {
  const xAxis = useMemo((): VizAxis => ({ key: "x", label: xLabel, kind: "linear" }), [xLabel]);
  const yAxis = useMemo((): VizAxis => ({ key: "y", label: yLabel, kind: logY ? "log" : "linear" }), [yLabel, logY]);
  const steps = useMemo(() => bestSoFar(points, best), [points, best]);
  const improving = useMemo(() => new Set(steps.map(([x, y]) => `${x} ${y}`)), [steps]);
  const marks = useMemo(
    () =>
      points.map(({ id, x, y, label = `trial ${id}` }) => ({ id, x, y, label, strong: improving.has(`${x} ${y}`) })),
    [points, improving],
  );
  const last = steps.at(-1);
  const words =
    last && `Line: best so far (${best} is better), now ${metricNumber(last[1])}. Ringed: trials that improved it.`;
  return (
    <XYPlot
      title={title ?? `${yLabel} over the search`}
      words={words}
      marks={marks}
      steps={steps}
      xAxis={xAxis}
      yAxis={yAxis}
      height={height}
      onPick={onPick}
      columns={["trial", xLabel, yLabel, "best so far"]}
      rows={() =>
        points.map(({ id, label, x, y }) => [label ?? String(id), metricNumber(x), metricNumber(y), bestAt(steps, x)])
      }
    />
  );
}

function bestAt(steps: readonly (readonly [number, number])[], x: number): string {
  const step = steps.findLast(([from]) => from <= x);
  return step === undefined ? "" : metricNumber(step[1]);
}
