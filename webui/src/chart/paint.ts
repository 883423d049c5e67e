// Draws lines, bands, gaps and markers on a canvas: exact shapes, no animation, so two loads give the same pixels.
import { columnsOf, traceBand, traceSpikes } from "./band";
import { type Frame, inside } from "./frame";
import type { Ink } from "./ink";
import { type Line, notFiniteAt } from "./lines";
import { type Scale, toUnit } from "./scale";
import { placesOf, traceDots, traceLine } from "./trace";
import type { Marker } from "./types";

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Scene {
  frame: Frame;
  lines: readonly Line[];
  markers: readonly Marker[];
  ink: Ink;
  smoothing: boolean;
}

type Canvas = CanvasRenderingContext2D;

const LINE_WIDTH = 1.5;
const BASELINE_WIDTH = 2.5;
const DOT_ROOM = 14;
const MANY_CORNERS = 6000;
const SPIKE = 6;
const EDGE = 4;

/** `box` and `ratio` are in device pixels, as the canvas is. */
export function paintScene(canvas: Canvas, box: Box, ratio: number, scene: Scene): void {
  const brush: Brush = { canvas, box, ratio, scene, toY: placer(scene.frame.y, box.top + box.height, box.top) };
  const ordered = [...scene.lines].sort((a, b) => Number(a.baseline) - Number(b.baseline));
  const strokes = ordered.map((line) => strokeFor(brush, line));
  const width = widthFor(strokes, box);
  within(canvas, box, 0, () => {
    canvas.lineJoin = "bevel";
    for (const stroke of strokes) paintBand(brush, stroke);
    if (scene.smoothing) for (const stroke of strokes) paintRaw(brush, stroke);
    for (const stroke of strokes) paintLine(brush, stroke, width);
  });
  // the first and the last point lie on the edge: half of their dot would be cut off
  within(canvas, box, EDGE * ratio, () => {
    for (const stroke of strokes) paintDots(brush, stroke);
    for (const stroke of strokes) paintNotFinite(brush, stroke);
  });
  paintMarkers(canvas, box, ratio, scene);
}

/** Paints inside the box and `room` pixels around it. */
function within(canvas: Canvas, box: Box, room: number, paint: () => void): void {
  canvas.save();
  canvas.beginPath();
  canvas.rect(box.left - room, box.top - room, box.width + 2 * room, box.height + 2 * room);
  canvas.clip();
  paint();
  canvas.restore();
}

/** Maps values of an axis to pixels; one closure per axis, because it runs for every point. */
export function placer(scale: Scale, from: number, to: number): (value: number) => number {
  if (scale.kind === "linear") {
    const slope = (to - from) / (scale.hi - scale.lo);
    return (value) => from + (value - scale.lo) * slope;
  }
  return (value) => from + toUnit(scale, value) * (to - from);
}

export function strokeOf(line: Line, ink: Ink): string {
  if (line.baseline) return ink.text;
  return ink.resolve(line.look.colour);
}

interface Brush {
  canvas: Canvas;
  box: Box;
  ratio: number;
  scene: Scene;
  toY: (value: number) => number;
}

interface Stroke {
  line: Line;
  colour: string;
  first: number;
  last: number;
  /** The points in view, with one neighbour on each side so that the line runs to the edges. */
  x: Float64Array;
  y: Float64Array;
}

function strokeFor({ box, toY, scene: { frame, ink } }: Brush, line: Line): Stroke {
  const [from, to] = inside(line.x, frame.x);
  const first = Math.max(0, from - 1);
  const last = Math.min(line.x.length, to + 1);
  const x = placesOf(line.x, first, last, placer(frame.x, box.left, box.left + box.width));
  return { line, colour: strokeOf(line, ink), first, last, x, y: placesOf(line.drawn, first, last, toY) };
}

/** Thin where there is a lot to draw: software rendering draws lines of one pixel ten times faster than wider ones. */
function widthFor(strokes: readonly Stroke[], box: Box): number {
  const corners = strokes.reduce((sum, { x }) => sum + Math.min(x.length, box.width * 2), 0);
  return corners > MANY_CORNERS ? 1 : LINE_WIDTH;
}

function paintBand({ canvas, box, ratio, toY }: Brush, { line, colour, first, last, x }: Stroke): void {
  if (line.min === undefined || line.max === undefined) return;
  const place = reachingDown(toY, box.top + box.height);
  const upper = placesOf(line.max, first, last, place);
  const lower = placesOf(line.min, first, last, place);
  const columns = columnsOf(x, upper, lower, box.left, box.left + box.width);
  canvas.strokeStyle = colour;
  canvas.lineWidth = 1;
  canvas.beginPath();
  traceBand(canvas, columns);
  canvas.globalAlpha = 0.2;
  canvas.stroke();
  canvas.beginPath();
  traceSpikes(canvas, columns, SPIKE * ratio);
  canvas.globalAlpha = 0.7;
  canvas.stroke();
  canvas.globalAlpha = 1;
}

/** An edge of a band may be zero or less, which has no place on a log axis: the band then ends at the bottom. */
function reachingDown(toY: (value: number) => number, bottom: number): (value: number) => number {
  return (value) => {
    const y = toY(value);
    return Number.isNaN(y) ? bottom : y;
  };
}

function paintRaw({ canvas, box, ratio, toY }: Brush, { line, colour, first, last, x }: Stroke): void {
  canvas.beginPath();
  traceLine(canvas, { x, y: placesOf(line.y, first, last, toY) }, box.width);
  canvas.strokeStyle = colour;
  canvas.globalAlpha = 0.25;
  canvas.lineWidth = ratio;
  canvas.stroke();
  canvas.globalAlpha = 1;
}

function paintLine({ canvas, box, ratio }: Brush, { line, colour, x, y }: Stroke, width: number): void {
  canvas.beginPath();
  traceLine(canvas, { x, y }, box.width);
  canvas.strokeStyle = colour;
  canvas.lineWidth = ratio * (line.baseline ? BASELINE_WIDTH : width);
  canvas.setLineDash(line.baseline ? [] : line.look.dash.map((length) => length * ratio));
  canvas.stroke();
  canvas.setLineDash([]);
}

function paintDots({ canvas, box, ratio }: Brush, { colour, x, y }: Stroke): void {
  canvas.beginPath();
  traceDots(canvas, { x, y }, ratio * 2, x.length * DOT_ROOM * ratio <= box.width);
  canvas.fillStyle = colour;
  canvas.fill();
}

function paintNotFinite({ canvas, box, ratio }: Brush, { line, colour, first, last, x }: Stroke): void {
  const bottom = box.top + box.height - 5 * ratio;
  const arm = 3 * ratio;
  canvas.beginPath();
  for (let i = first; i < last; i++) {
    if (notFiniteAt(line, i) === 0) continue;
    const left = x[i - first] ?? 0;
    canvas.moveTo(left - arm, bottom - arm);
    canvas.lineTo(left + arm, bottom + arm);
    canvas.moveTo(left - arm, bottom + arm);
    canvas.lineTo(left + arm, bottom - arm);
  }
  canvas.strokeStyle = colour;
  canvas.lineWidth = ratio * 1.5;
  canvas.stroke();
}

function paintMarkers(canvas: Canvas, box: Box, ratio: number, { frame, ink, markers }: Scene): void {
  const toX = placer(frame.x, box.left, box.left + box.width);
  let taken = Number.NEGATIVE_INFINITY;
  canvas.save();
  canvas.strokeStyle = canvas.fillStyle = ink.muted;
  canvas.lineWidth = ratio;
  canvas.font = `${10 * ratio}px ${ink.font}`;
  canvas.textBaseline = "top";
  canvas.textAlign = "left"; // the axes leave another one behind
  for (const marker of [...markers].sort((a, b) => a.x - b.x)) {
    const x = Math.round(toX(marker.x)) + 0.5;
    if (!(x >= box.left && x <= box.left + box.width)) continue;
    canvas.setLineDash([3 * ratio, 3 * ratio]);
    canvas.beginPath();
    canvas.moveTo(x, box.top);
    canvas.lineTo(x, box.top + box.height);
    canvas.stroke();
    taken = paintMarkerLabel(canvas, box, ratio, marker.label, x, taken);
  }
  canvas.restore();
}

/** Labels that would run into the one before stay out; the line itself is always there. */
function paintMarkerLabel(canvas: Canvas, box: Box, ratio: number, label: string, x: number, taken: number): number {
  const width = canvas.measureText(label).width;
  const fitsRight = x + 3 * ratio + width <= box.left + box.width;
  const left = fitsRight ? x + 3 * ratio : x - 3 * ratio - width;
  if (left < taken) return taken;
  canvas.fillText(label, left, box.top + 2 * ratio);
  return left + width + 4 * ratio;
}
