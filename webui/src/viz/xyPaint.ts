// Draws the points and the step line of an x-y picture in CSS pixels.
import type { Ink } from "../chart/ink";
import type { Placed } from "./XYPlot";

export function drawPoints(pen: CanvasRenderingContext2D, placed: readonly Placed[], ink: Ink): void {
  const ordered = [...placed].sort((a, b) => Number(a.mark.strong ?? false) - Number(b.mark.strong ?? false));
  for (const { mark, left, top } of ordered) {
    pen.beginPath();
    pen.arc(left, top, mark.strong ? 5 : 3.5, 0, 2 * Math.PI);
    pen.fillStyle = ink.resolve(mark.colour ?? "var(--series-0)");
    pen.globalAlpha = mark.strong ? 1 : 0.8;
    pen.fill();
    pen.globalAlpha = 1;
    if (!mark.strong) continue;
    pen.lineWidth = 1.5;
    pen.strokeStyle = ink.text;
    pen.stroke();
  }
}

export function drawSteps(
  pen: CanvasRenderingContext2D,
  corners: readonly (readonly [number, number])[],
  ink: Ink,
): void {
  pen.beginPath();
  let before: readonly [number, number] | null = null;
  for (const corner of corners) {
    if (Number.isNaN(corner[0]) || Number.isNaN(corner[1])) continue;
    if (before === null) pen.moveTo(corner[0], corner[1]);
    else {
      pen.lineTo(corner[0], before[1]);
      pen.lineTo(corner[0], corner[1]);
    }
    before = corner;
  }
  pen.strokeStyle = ink.text;
  pen.lineWidth = 1.5;
  pen.stroke();
}
