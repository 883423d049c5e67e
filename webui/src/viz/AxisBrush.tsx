// One axis of parallel coordinates with its ticks and the brush that is dragged along it.
import { type PointerEvent, useRef } from "react";
import { middleEllipsis } from "../chart/names";
import { type AxisScale, axisTicks, stretchOf, unitsOfRange } from "./axis";
import type { Brushes, VizAxis } from "./types";
import styles from "./viz.module.css";

type Brush = Brushes[string];

interface AxisBrushProps {
  axis: VizAxis;
  scale: AxisScale;
  left: number;
  top: number;
  height: number;
  brush: Brush | undefined;
  onDrag: (brush: Brush) => void;
  onEnd: (brush: Brush | null) => void;
}

const CLICK = 3;

export function AxisBrush({ axis, scale, left, top, height, brush, onDrag, onEnd }: AxisBrushProps) {
  const start = useRef<number | null>(null);
  const at = (event: PointerEvent<Element>) => {
    const y = event.clientY - event.currentTarget.getBoundingClientRect().top;
    return Math.min(height, Math.max(0, y));
  };
  const dragged = (from: number, to: number) => stretchOf(scale, 1 - from / height, 1 - to / height);
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    start.current = at(event);
  };
  const onPointerMove = (event: PointerEvent<HTMLElement>) => {
    if (start.current === null) return;
    event.stopPropagation();
    if (Math.abs(at(event) - start.current) > CLICK) onDrag(dragged(start.current, at(event)));
  };
  const onPointerUp = (event: PointerEvent<HTMLElement>) => {
    if (start.current === null) return;
    const from = start.current;
    start.current = null;
    onEnd(Math.abs(at(event) - from) > CLICK ? dragged(from, at(event)) : null);
  };
  return (
    <div className={styles.parallelAxis} style={{ left, top, height }}>
      <span className={styles.parallelLabel} title={axis.label}>
        {middleEllipsis(axis.label, 16)}
      </span>
      {axisTicks(scale, height / 40).map(({ unit, label }) => (
        <span key={label} className={styles.parallelTick} style={{ top: (1 - unit) * height }}>
          {middleEllipsis(label, 12)}
        </span>
      ))}
      {stretches(scale, brush).map(([lo, hi]) => (
        <span
          key={lo}
          className={styles.brush}
          style={{ top: (1 - hi) * height, height: Math.max(2, (hi - lo) * height) }}
        />
      ))}
      <div
        className={styles.brushHandle}
        aria-hidden="true"
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onClick={(event) => event.stopPropagation()}
      />
    </div>
  );
}

function stretches(scale: AxisScale, brush: Brush | undefined): (readonly [number, number])[] {
  if (brush === undefined) return [];
  if (scale.kind === "category") {
    const n = scale.values.length;
    return scale.values.flatMap((value, i) =>
      (brush as readonly (string | number)[]).includes(value) ? [[i / n, (i + 1) / n] as const] : [],
    );
  }
  const [lo, hi] = brush;
  const units = typeof lo === "number" && typeof hi === "number" ? unitsOfRange(scale, [lo, hi]) : null;
  return units === null ? [] : [units];
}
