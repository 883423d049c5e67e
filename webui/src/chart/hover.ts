// The dot and the small label at the cursor. They are elements over the canvas, so moving them repaints no line.
import { metricNumber } from "../ui/format";
import styles from "./Chart.module.css";
import { middleEllipsis } from "./names";
import { type Hit, nearestIndex, nearestLine } from "./nearest";
import { placer, type Scene, strokeOf } from "./paint";
import { wordOf } from "./ticks";
import type { XKind } from "./types";

interface Seen extends Scene {
  xKind: XKind;
}

export class Hover {
  readonly #over: HTMLElement;
  readonly #dot = document.createElement("div");
  readonly #label = document.createElement("div");

  constructor(over: HTMLElement) {
    this.#over = over;
    this.#dot.className = styles.dot ?? "";
    this.#label.className = styles.tip ?? "";
    this.hide();
    over.append(this.#dot, this.#label);
  }

  hide(): void {
    this.#dot.hidden = this.#label.hidden = true;
  }

  /** With the pointer (`top` in pixels) the nearest line is named; a cursor from elsewhere marks a lone line only. */
  show(scene: Seen, x: number | null, top: number | null): void {
    const hit = this.#hit(scene, x, top);
    if (hit === null) {
      this.hide();
      return;
    }
    const { frame, ink, xKind } = scene;
    const atX = hit.line.x[hit.index] ?? Number.NaN;
    const value = hit.line.drawn[hit.index] ?? Number.NaN;
    const left = placer(frame.x, 0, this.#over.clientWidth)(atX);
    const down = placer(frame.y, this.#over.clientHeight, 0)(value);
    this.#place(left, down, strokeOf(hit.line, ink));
    this.#say(left, down, `${metricNumber(value)} @ ${wordOf(atX, xKind)}  ${middleEllipsis(hit.line.name, 24)}`);
  }

  #hit({ frame, lines }: Seen, x: number | null, top: number | null): Hit | null {
    if (x === null || x < frame.x.lo || x > frame.x.hi) return null;
    if (top === null) return loneHit(lines, x);
    return nearestLine(lines, x, top, placer(frame.y, this.#over.clientHeight, 0));
  }

  #place(left: number, top: number, colour: string): void {
    const inside = left >= 0 && left <= this.#over.clientWidth && top >= 0 && top <= this.#over.clientHeight;
    this.#dot.hidden = !inside;
    this.#dot.style.transform = `translate(${left}px, ${top}px)`;
    this.#dot.style.background = colour;
  }

  #say(left: number, top: number, text: string): void {
    const width = this.#over.clientWidth;
    this.#label.hidden = false;
    this.#label.textContent = text;
    const rightHalf = left > width / 2;
    this.#label.style.left = rightHalf ? "auto" : `${Math.max(0, left + 10)}px`;
    this.#label.style.right = rightHalf ? `${Math.max(0, width - left + 10)}px` : "auto";
    this.#label.style.top = `${Math.min(Math.max(0, top - 28), Math.max(0, this.#over.clientHeight - 24))}px`;
  }
}

function loneHit(lines: Scene["lines"], x: number): Hit | null {
  const [line] = lines;
  if (line === undefined || lines.length > 1) return null;
  const index = nearestIndex(line, x);
  return index === null ? null : { line, index };
}
