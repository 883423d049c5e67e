// Parallel coordinates: a line per trial over all hyperparameters; brushes on axes choose, by dragging or by typing.
import { useCallback, useMemo, useRef, useState } from "react";
import { type Ink, useInk } from "../chart/ink";
import { metricNumber, plural } from "../ui/format";
import { AxisBrush } from "./AxisBrush";
import { valueWord } from "./axis";
import { BrushInputs } from "./BrushInputs";
import { ColourBar } from "./ColourBar";
import { layoutOf, nearestParallel, type ParallelLine, type ParallelRow, passes, withBrush } from "./parallel";
import { drawBehind, drawPassing } from "./parallelPaint";
import type { Brushes, Id, VizAxis } from "./types";
import { type Size, useCanvas, useWidth } from "./useCanvas";
import { useWalker } from "./useWalker";
import { VizFrame } from "./VizFrame";
import { viridisOn } from "./viridis";
import styles from "./viz.module.css";
import { WalkArea } from "./WalkArea";

export interface ParallelCoordinatesProps {
  axes: readonly VizAxis[];
  rows: readonly ParallelRow[];
  brushes: Brushes;
  onBrush: (brushes: Brushes) => void;
  onPick?: ((id: Id) => void) | undefined;
  metricLabel?: string | undefined;
  title?: string | undefined;
  height?: number | undefined;
}

const MARGIN = { side: 60, top: 30, bottom: 12 };
const REACH = 8;
const AXIS_ROOM = 92;

export function ParallelCoordinates(props: ParallelCoordinatesProps) {
  const {
    axes,
    rows,
    brushes,
    onBrush,
    onPick,
    metricLabel = "metric",
    title = "Parallel coordinates",
    height = 360,
  } = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const ink = useInk();
  const area = { width: Math.max(10, width - 2 * MARGIN.side), height: height - MARGIN.top - MARGIN.bottom };
  const layout = useMemo(() => layoutOf(axes, rows), [axes, rows]);
  const [dragged, setDragged] = useState<Brushes | null>(null);
  const active = dragged ?? brushes;
  const passing = useMemo(() => layout.lines.filter((line) => passes(line.row, active)), [layout, active]);
  const [hovered, setHovered] = useState<ParallelLine | null>(null);
  const describe = (line: ParallelLine) => wordsOf(line.row, axes, metricLabel);
  const pick = onPick && ((line: ParallelLine) => onPick(line.row.id));
  const walker = useWalker({ marks: passing, describe, onPick: pick });
  const shown = hovered ?? walker.mark ?? null;
  const onPoint = (at: { x: number; y: number } | null) => {
    const inArea = at && { x: at.x - MARGIN.side, y: at.y - MARGIN.top };
    setHovered(inArea && dragged === null ? nearestParallel(passing, inArea, area, REACH) : null);
  };
  const words = `${plural(passing.length, "trial")} of ${rows.length} inside all brushes. Drag along an axis to brush it, click it to clear.`;
  return (
    <VizFrame
      title={title}
      words={words}
      columns={["trial", ...axes.map((axis) => axis.label), metricLabel]}
      rows={() => passing.map(({ row }) => tableRow(row, axes))}
      height={height}
    >
      <WalkArea
        box={box}
        label={title}
        walker={walker}
        height={height}
        minWidth={2 * MARGIN.side + (axes.length - 1) * AXIS_ROOM}
        canPick={hovered !== null && onPick !== undefined}
        onPoint={onPoint}
        onPick={() => hovered && onPick?.(hovered.row.id)}
      >
        {passing.length < rows.length && <Layer lines={layout.lines} paint={drawBehind} area={area} ink={ink} />}
        <Layer lines={passing} paint={drawPassing} area={area} ink={ink} />
        <svg className={styles.axes} width={width} height={height} aria-hidden="true">
          {shown && <Highlight line={shown} area={area} ink={ink} />}
        </svg>
        {width > 0 &&
          axes.map((axis, i) => {
            const scale = layout.scales[i];
            if (scale === undefined) return null;
            const left = MARGIN.side + (i * area.width) / Math.max(1, axes.length - 1);
            return (
              <AxisBrush
                key={axis.key}
                axis={axis}
                scale={scale}
                left={left}
                top={MARGIN.top}
                height={area.height}
                brush={active[axis.key]}
                onDrag={(brush) => setDragged(withBrush(brushes, axis.key, brush))}
                onEnd={(brush) => {
                  setDragged(null);
                  onBrush(withBrush(brushes, axis.key, brush));
                }}
              />
            );
          })}
        {shown && <div className={styles.tipTop}>{describe(shown)}</div>}
      </WalkArea>
      {layout.metric !== null && (
        <ColourBar label={metricLabel} {...layout.metric} colour={(unit) => viridisOn(ink.dark, unit)} />
      )}
      <BrushInputs axes={axes} scales={layout.scales} brushes={brushes} onBrush={onBrush} />
    </VizFrame>
  );
}

interface LayerProps {
  lines: readonly ParallelLine[];
  paint: typeof drawPassing;
  area: Size;
  ink: Ink;
}

function Layer({ lines, paint, area: { width, height }, ink }: LayerProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const draw = useCallback(
    (pen: CanvasRenderingContext2D, size: Size) => paint(pen, size, lines, ink),
    [lines, paint, ink],
  );
  useCanvas(canvas, { width, height }, draw);
  return (
    <canvas ref={canvas} className={styles.canvas} style={{ left: MARGIN.side, top: MARGIN.top, width, height }} />
  );
}

function Highlight({ line, area, ink }: { line: ParallelLine; area: Size; ink: Ink }) {
  const step = area.width / Math.max(1, line.units.length - 1);
  const points = line.units
    .flatMap((unit, i) =>
      Number.isNaN(unit) ? [] : [`${MARGIN.side + i * step},${MARGIN.top + (1 - unit) * area.height}`],
    )
    .join(" ");
  return <polyline points={points} fill="none" stroke={ink.text} strokeWidth="2.5" strokeLinejoin="round" />;
}

function wordsOf(row: ParallelRow, axes: readonly VizAxis[], metricLabel: string): string {
  const values = axes.map((axis) => `${axis.label} ${valueWord(row.values[axis.key]) || "none"}`);
  const metric = row.metric === undefined ? "" : `, ${metricLabel} ${metricNumber(row.metric)}`;
  return `trial ${row.id}: ${values.join(", ")}${metric}`;
}

function tableRow(row: ParallelRow, axes: readonly VizAxis[]): string[] {
  return [String(row.id), ...axes.map((axis) => valueWord(row.values[axis.key])), metricNumber(row.metric)];
}
