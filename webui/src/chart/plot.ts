// One uPlot behind an interface of our own: it owns canvas, axes, cursor and drag; scales, ticks and lines are ours.
// uPlot's own scales always run from 0 to 1, so log axes, huge values and live data never make it rebuild anything.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { Hover } from "./hover";
import { Pacer } from "./pacer";
import { paintScene, type Scene } from "./paint";
import { toUnit, toValue } from "./scale";
import { type Tick, ticksOf } from "./ticks";
import type { Range, XKind } from "./types";

export interface View extends Scene {
  xLabel: string;
  xKind: XKind;
  /** Changes when the reader asked for another view (zoom, log, solo); new data alone leaves it as it is. */
  asked: string;
}

export interface PlotEvents {
  onCursor(x: number | null): void;
  onSelect(range: Range): void;
  onReset(): void;
}

const REPAINT_PAUSE = 250;
const FONT_SIZE = 11;
const TICK_ROOM = { x: 64, y: 34 };

export class Plot {
  readonly #u: uPlot;
  readonly #pacer: Pacer;
  readonly #hover: Hover;
  #view: View;
  #next: View;
  #pointerInside = false;
  #yAxisSize = 0;
  #cursor: number | null = null;

  constructor(host: HTMLElement, size: { width: number; height: number }, view: View, events: PlotEvents) {
    this.#view = this.#next = view;
    this.#u = new uPlot(this.#options(size, events), [
      [0, 1],
      [null, null],
    ]);
    host.append(this.#u.root);
    this.#hover = new Hover(this.#u.over);
    this.#pacer = new Pacer(() => this.#apply(), REPAINT_PAUSE);
    this.#u.over.addEventListener("mouseenter", () => {
      this.#pointerInside = true;
    });
    this.#u.over.addEventListener("mouseleave", () => this.#left());
  }

  /** What the reader asked for is drawn at once, new data at most four times a second. */
  update(view: View): void {
    const asked = view.asked !== this.#next.asked || view.ink !== this.#next.ink;
    this.#next = view;
    if (!asked) {
      this.#pacer.ask();
      return;
    }
    this.#pacer.stop();
    this.#view = view;
    this.#repaint();
  }

  resize(width: number, height: number): void {
    if (width !== this.#u.width || height !== this.#u.height) this.#u.setSize({ width, height });
  }

  /** Puts the cursor at an x of the data; under the pointer uPlot has done so already. */
  showCursor(x: number | null): void {
    const width = widthOf(this.#u);
    this.#cursor = x;
    if (!this.#pointerInside) {
      const left = x === null ? -10 : toUnit(this.#view.frame.x, x) * width;
      this.#u.setCursor({ left: left >= 0 && left <= width ? left : -10, top: 0 }, false);
    }
    const pointerTop = this.#pointerInside ? (this.#u.cursor.top ?? 0) : null;
    this.#hover.show(this.#view, x, pointerTop);
  }

  get canvas(): HTMLCanvasElement {
    return this.#u.ctx.canvas;
  }

  destroy(): void {
    this.#pacer.stop();
    this.#u.destroy();
  }

  /** While the pointer is on the chart the axes stay: nothing may move under it. */
  #apply(): void {
    const held = this.#pointerInside && hasPoints(this.#view);
    const { x, y } = this.#view.frame;
    this.#view = held ? { ...this.#next, frame: { ...this.#next.frame, x, y } } : this.#next;
    this.#repaint();
  }

  #repaint(): void {
    this.#u.redraw(false, true);
    if (this.#cursor !== null) this.showCursor(this.#cursor);
  }

  #left(): void {
    this.#pointerInside = false;
    if (this.#view !== this.#next) this.#pacer.ask();
  }

  #options(size: { width: number; height: number }, events: PlotEvents): uPlot.Options {
    return {
      ...size,
      legend: { show: false },
      padding: [8, 20, 0, 0],
      scales: { x: { time: false, range: [0, 1] }, y: { range: [0, 1] } },
      series: [{}, { auto: false, paths: () => null, points: { show: false } }],
      axes: [this.#xAxis(), this.#yAxis()],
      select: { show: true, left: 0, top: 0, width: 0, height: 0 },
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: 5 },
        bind: {
          dblclick: () => () => {
            events.onReset();
            return null;
          },
        },
      },
      hooks: {
        draw: [(u) => paintScene(u.ctx, u.bbox, uPlot.pxRatio, this.#view)],
        setCursor: [(u) => events.onCursor(this.#valueAt(u, u.cursor.left ?? -1))],
        setSelect: [(u) => this.#selected(u, events)],
      },
    };
  }

  #valueAt(u: uPlot, left: number): number | null {
    return left < 0 ? null : toValue(this.#view.frame.x, left / widthOf(u));
  }

  #selected(u: uPlot, events: PlotEvents): void {
    const { left, width } = u.select;
    const from = this.#valueAt(u, left);
    const to = this.#valueAt(u, left + width);
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (from !== null && to !== null && to > from) events.onSelect([from, to]);
  }

  #xAxis(): uPlot.Axis {
    const ticks = (room: number) => ticksOf(this.#view.frame.x, room / TICK_ROOM.x, this.#view.xKind);
    return {
      ...this.#axis(() => this.#view.frame.x, ticks),
      label: () => this.#view.xLabel,
      size: 20,
      labelSize: 16,
      labelGap: 0,
    };
  }

  #yAxis(): uPlot.Axis {
    const ticks = (room: number) => ticksOf(this.#view.frame.y, room / TICK_ROOM.y);
    return { ...this.#axis(() => this.#view.frame.y, ticks), size: (u, labels) => this.#roomFor(u, labels) };
  }

  #axis(scale: () => View["frame"]["x"], ticks: (room: number) => Tick[]): uPlot.Axis {
    let now: Tick[] = [];
    return {
      // uPlot gives the pixels of one increment on its scale from 0 to 1, and so the length of the axis.
      splits: (_u, _axis, _min, _max, increment, space) => {
        now = hasPoints(this.#view) ? ticks(space / increment) : [];
        return now.map((tick) => toUnit(scale(), tick.value));
      },
      values: () => now.map((tick) => tick.label),
      incrs: [10],
      stroke: () => this.#view.ink.muted,
      grid: { stroke: () => this.#view.ink.grid, width: 1 },
      ticks: { show: false },
      gap: 5,
      font: `${FONT_SIZE}px ${this.#view.ink.font}`,
      labelFont: `${FONT_SIZE}px ${this.#view.ink.font}`,
    };
  }

  /** Wide enough for the labels in steps of 8 pixels and never narrower again, or live labels would shake the chart. */
  #roomFor(u: uPlot, labels: string[] | null): number {
    u.ctx.save();
    u.ctx.font = `${FONT_SIZE}px ${this.#view.ink.font}`;
    const widest = Math.max(0, ...(labels ?? []).map((label) => u.ctx.measureText(label).width));
    u.ctx.restore();
    this.#yAxisSize = Math.max(this.#yAxisSize, 32, Math.ceil((widest + 8) / 8) * 8);
    return this.#yAxisSize;
  }
}

/** Width of the plotting area in CSS pixels, without asking the layout. */
function widthOf(u: uPlot): number {
  return u.bbox.width / uPlot.pxRatio;
}

function hasPoints(view: View): boolean {
  return view.lines.some((line) => line.x.length > 0);
}
