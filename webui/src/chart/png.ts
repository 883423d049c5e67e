// A chart as a PNG: the canvas as it stands on the theme's ground, with title and legend, and downloads in general.
import { saveFile } from "../ui/saveFile";
import type { Ink } from "./ink";
import type { Line } from "./lines";
import { middleEllipsis } from "./names";
import { strokeOf } from "./paint";

const MARGIN = 12;
const ROW = 18;
const COLUMN = 200;

export function drawPng(source: HTMLCanvasElement, title: string, lines: readonly Line[], ink: Ink): HTMLCanvasElement {
  const ratio = source.width / Math.max(1, source.clientWidth || source.width);
  const width = source.width / ratio;
  const columns = Math.max(1, Math.floor((width - 2 * MARGIN) / COLUMN));
  const legend = Math.ceil(lines.length / columns) * ROW;
  const canvas = document.createElement("canvas");
  canvas.width = source.width;
  canvas.height = source.height + (ROW + legend + 3 * MARGIN) * ratio;
  const pen = canvas.getContext("2d");
  if (pen === null) return canvas;
  pen.fillStyle = ink.surface;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(source, 0, (ROW + MARGIN) * ratio);
  pen.scale(ratio, ratio);
  pen.textBaseline = "middle";
  pen.fillStyle = ink.text;
  pen.font = `600 13px ${ink.font}`;
  pen.fillText(title, MARGIN, MARGIN + ROW / 2);
  pen.font = `11px ${ink.font}`;
  const top = ROW + 2 * MARGIN + source.height / ratio;
  for (const [i, line] of lines.entries()) {
    drawEntry(pen, line, ink, MARGIN + (i % columns) * COLUMN, top + Math.floor(i / columns) * ROW);
  }
  return canvas;
}

export function downloadPng(canvas: HTMLCanvasElement, name: string): void {
  canvas.toBlob((blob) => {
    if (blob !== null) saveFile(blob, `${fileName(name)}.png`);
  }, "image/png");
}

export function downloadCsv(text: string, name: string): void {
  saveFile(new Blob([text], { type: "text/csv" }), `${fileName(name)}.csv`);
}

/** The master writes the file; a million points never pass through this page. */
export function saveFrom(url: string, name: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = `${fileName(name)}.csv`;
  link.click();
}

function drawEntry(pen: CanvasRenderingContext2D, line: Line, ink: Ink, left: number, top: number): void {
  pen.strokeStyle = strokeOf(line, ink);
  pen.lineWidth = line.baseline ? 2.5 : 1.5;
  pen.setLineDash(line.look.dash);
  pen.beginPath();
  pen.moveTo(left, top);
  pen.lineTo(left + 20, top);
  pen.stroke();
  pen.fillStyle = ink.text;
  pen.fillText(middleEllipsis(line.name, 28), left + 26, top);
}

function fileName(title: string): string {
  return title.replace(/[^\w.-]+/g, "_").slice(0, 80) || "chart";
}
