// Draws the lines of parallel coordinates in two layers, so that dragging a brush draws only the upper one again.
import type { Ink } from "../chart/ink";
import { byHeat, type ParallelLine } from "./parallel";
import type { Size } from "./useCanvas";
import { viridisOn } from "./viridis";

const LEVELS = 24;
const MANY = 200;

/** All lines faintly: what brushes leave behind. */
export function drawBehind(pen: CanvasRenderingContext2D, size: Size, lines: readonly ParallelLine[], ink: Ink): void {
  pen.beginPath();
  for (const line of lines) traceParallel(pen, size, line);
  pen.strokeStyle = ink.grid;
  pen.lineWidth = 1;
  pen.stroke();
}

/** The lines inside all brushes, coloured by their metric. */
export function drawPassing(pen: CanvasRenderingContext2D, size: Size, lines: readonly ParallelLine[], ink: Ink): void {
  pen.lineWidth = lines.length > MANY ? 1 : 1.5;
  pen.globalAlpha = lines.length > MANY ? 0.6 : 0.9;
  for (const [level, bucket] of byHeat(lines, LEVELS)) {
    pen.beginPath();
    for (const line of bucket) traceParallel(pen, size, line);
    pen.strokeStyle = level < 0 ? ink.muted : viridisOn(ink.dark, level / (LEVELS - 1));
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

/** One line over all axes; a missing value leaves a gap. */
function traceParallel(pen: CanvasRenderingContext2D, { width, height }: Size, line: ParallelLine): void {
  const step = width / Math.max(1, line.units.length - 1);
  let open = false;
  for (const [i, unit] of line.units.entries()) {
    if (Number.isNaN(unit)) {
      open = false;
      continue;
    }
    if (open) pen.lineTo(i * step, (1 - unit) * height);
    else pen.moveTo(i * step, (1 - unit) * height);
    open = true;
  }
}
