// Points on two axes: canvas for the marks, SVG for the axes; pointer and keyboard find a mark, a click picks it.
import { useCallback, useMemo, useRef, useState } from "react";
import { useInk } from "../chart/ink";
import { type AxisScale, axisScale, axisTicks, unitOf, valueWord } from "./axis";
import type { Id, VizAxis, VizValue } from "./types";
import { useCanvas, useWidth } from "./useCanvas";
import { useWalker } from "./useWalker";
import { VizFrame } from "./VizFrame";
import styles from "./viz.module.css";
import { WalkArea } from "./WalkArea";
import { drawPoints, drawSteps } from "./xyPaint";

export interface Mark {
  id: Id;
  x: VizValue;
  y: VizValue;
  label: string;
  /** Any CSS colour; the series colour when left out. */
  colour?: string | undefined;
  /** Drawn larger, with a ring. */
  strong?: boolean;
}

interface XYPlotProps {
  title: string;
  words?: string | undefined;
  marks: readonly Mark[];
  xAxis: VizAxis;
  yAxis: VizAxis;
  /** A line through these points, as steps. */
  steps?: readonly (readonly [number, number])[];
  height?: number;
  onPick?: ((id: Id) => void) | undefined;
  columns: readonly string[];
  rows: () => readonly (readonly string[])[];
}

const MARGIN = { left: 64, right: 16, top: 10, bottom: 40 };
const REACH = 14;
const NO_STEPS: readonly (readonly [number, number])[] = [];

export function XYPlot(props: XYPlotProps) {
  const { title, words, marks, xAxis, yAxis, steps = NO_STEPS, height = 320, onPick } = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const area = { width: Math.max(10, width - MARGIN.left - MARGIN.right), height: height - MARGIN.top - MARGIN.bottom };
  const x = useMemo(
    () =>
      axisScale(
        xAxis,
        marks.map((mark) => mark.x),
        0.03,
      ),
    [xAxis, marks],
  );
  const y = useMemo(
    () =>
      axisScale(
        yAxis,
        marks.map((mark) => mark.y),
        0.05,
      ),
    [yAxis, marks],
  );
  const placed = usePlaced(marks, x, y, area.width, area.height);
  const [hovered, setHovered] = useState<Placed | null>(null);
  const ordered = useMemo(() => [...placed].sort((a, b) => a.left - b.left), [placed]);
  const pick = onPick && (({ mark }: Placed) => onPick(mark.id));
  const describe = ({ mark }: Placed) =>
    `${mark.label}: ${xAxis.label} ${valueWord(mark.x)}, ${yAxis.label} ${valueWord(mark.y)}`;
  const walker = useWalker({ marks: ordered, describe, onPick: pick });
  const shown = hovered ?? walker.mark ?? null;
  const onPoint = (at: { x: number; y: number } | null) =>
    setHovered(at && nearestPlaced(placed, at.x - MARGIN.left, at.y - MARGIN.top));
  return (
    <VizFrame title={title} words={words} columns={props.columns} rows={props.rows} height={height}>
      <WalkArea
        box={box}
        label={title}
        walker={walker}
        height={height}
        canPick={hovered !== null && onPick !== undefined}
        onPoint={onPoint}
        onPick={() => hovered && onPick?.(hovered.mark.id)}
      >
        <Axes x={x} y={y} xLabel={xAxis.label} yLabel={yAxis.label} width={width} height={height} />
        <Marks placed={placed} steps={steps} x={x} y={y} area={area} />
        {shown && <Tip placed={shown} area={area} text={describe(shown)} />}
      </WalkArea>
    </VizFrame>
  );
}

export interface Placed {
  mark: Mark;
  left: number;
  top: number;
}

function usePlaced(marks: readonly Mark[], x: AxisScale, y: AxisScale, width: number, height: number): Placed[] {
  return useMemo(
    () =>
      marks
        .map((mark) => ({ mark, left: unitOf(x, mark.x) * width, top: (1 - unitOf(y, mark.y)) * height }))
        .filter(({ left, top }) => !Number.isNaN(left) && !Number.isNaN(top)),
    [marks, x, y, width, height],
  );
}

function nearestPlaced(placed: readonly Placed[], left: number, top: number): Placed | null {
  let best: Placed | null = null;
  let bestGap = REACH;
  for (const one of placed) {
    const gap = Math.hypot(one.left - left, one.top - top);
    if (gap <= bestGap) {
      best = one;
      bestGap = gap;
    }
  }
  return best;
}

interface MarksProps {
  placed: readonly Placed[];
  steps: readonly (readonly [number, number])[];
  x: AxisScale;
  y: AxisScale;
  area: { width: number; height: number };
}

function Marks({ placed, steps, x, y, area: { width, height } }: MarksProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const ink = useInk();
  const draw = useCallback(
    (pen: CanvasRenderingContext2D) => {
      const corners = steps.map(([a, b]) => [unitOf(x, a) * width, (1 - unitOf(y, b)) * height] as const);
      drawSteps(pen, corners, ink);
      drawPoints(pen, placed, ink);
    },
    [placed, steps, x, y, width, height, ink],
  );
  useCanvas(canvas, { width, height }, draw);
  const place = { left: MARGIN.left, top: MARGIN.top, width, height };
  return <canvas ref={canvas} className={styles.canvas} style={place} />;
}

interface AxesProps {
  x: AxisScale;
  y: AxisScale;
  xLabel: string;
  yLabel: string;
  width: number;
  height: number;
}

function Axes({ x, y, xLabel, yLabel, width, height }: AxesProps) {
  const right = width - MARGIN.right;
  const bottom = height - MARGIN.bottom;
  const toLeft = (unit: number) => MARGIN.left + unit * (right - MARGIN.left);
  const toTop = (unit: number) => bottom - unit * (bottom - MARGIN.top);
  if (width <= 0) return null;
  return (
    <svg className={styles.axes} width={width} height={height} aria-hidden="true">
      {axisTicks(x, (right - MARGIN.left) / 90).map(({ unit, label }) => (
        <g key={label} transform={`translate(${toLeft(unit)} 0)`}>
          <line y1={MARGIN.top} y2={bottom} className={styles.gridline} />
          <text y={bottom + 14} textAnchor="middle">
            {label}
          </text>
        </g>
      ))}
      {axisTicks(y, (bottom - MARGIN.top) / 40).map(({ unit, label }) => (
        <g key={label} transform={`translate(0 ${toTop(unit)})`}>
          <line x1={MARGIN.left} x2={right} className={styles.gridline} />
          <text x={MARGIN.left - 6} y={4} textAnchor="end">
            {label}
          </text>
        </g>
      ))}
      <text x={(MARGIN.left + right) / 2} y={height - 6} textAnchor="middle" className={styles.axisLabel}>
        {xLabel}
      </text>
      <text
        transform={`translate(12 ${(MARGIN.top + bottom) / 2}) rotate(-90)`}
        textAnchor="middle"
        className={styles.axisLabel}
      >
        {yLabel}
      </text>
    </svg>
  );
}

function Tip({ placed, area, text }: { placed: Placed; area: { width: number }; text: string }) {
  const left = MARGIN.left + placed.left;
  const top = MARGIN.top + placed.top;
  const rightHalf = placed.left > area.width / 2;
  const side = rightHalf ? { right: area.width - placed.left + MARGIN.right + 10 } : { left: left + 10 };
  return (
    <>
      <div className={styles.ring} style={{ left, top }} />
      <div className={styles.tip} style={{ ...side, top: Math.max(0, top - 28) }}>
        {text}
      </div>
    </>
  );
}
