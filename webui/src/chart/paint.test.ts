import { describe, expect, it } from "vitest";
import type { Line } from "./lines";
import { paintScene, type Scene } from "./paint";
import { scaleOf } from "./scale";

const BOX = { left: 10, top: 10, width: 100, height: 50 };

/** A canvas that notes where each dot lies and what it was clipped to. */
function recorder() {
  const dots: { x: number; radius: number; from: number; to: number }[] = [];
  let clip = [0, 0];
  const known: Record<string, unknown> = {
    rect: (left: number, _top: number, width: number) => {
      clip = [left, left + width];
    },
    arc: (x: number, _y: number, radius: number) => {
      dots.push({ x, radius, from: clip[0] ?? 0, to: clip[1] ?? 0 });
    },
  };
  const canvas = new Proxy(known, { get: (target, name) => target[String(name)] ?? (() => undefined) });
  return { canvas: canvas as unknown as CanvasRenderingContext2D, dots };
}

describe("a chart", () => {
  it("shows the first and the last point of a line whole", () => {
    const { canvas, dots } = recorder();
    const y = Float64Array.of(1, 2, 3);
    const look = { colour: "series-1", dash: [] };
    const line = { x: Float64Array.of(0, 1, 2), y, drawn: y, look, baseline: false } as unknown as Line;
    const ink = { resolve: () => "#000", text: "#000", muted: "#000", font: "x" };
    const frame = { x: scaleOf("linear", 0, 2), y: scaleOf("linear", 0, 4) };
    paintScene(canvas, BOX, 1, { frame, lines: [line], markers: [], ink, smoothing: false } as unknown as Scene);
    expect(dots.map((dot) => dot.x)).toEqual([10, 60, 110]);
    for (const dot of dots) {
      expect(dot.x - dot.radius).toBeGreaterThanOrEqual(dot.from);
      expect(dot.x + dot.radius).toBeLessThanOrEqual(dot.to);
    }
  });

  it("writes the name of a marker beside its line, however text was aligned before", () => {
    const { canvas } = recorder();
    const aligned: unknown[] = [];
    const known = { measureText: () => ({ width: 20 }), textAlign: "center" };
    const written = new Proxy(known, {
      get: (target, name) => {
        if (name === "fillText") return () => aligned.push(target.textAlign);
        return Reflect.get(target, name) ?? Reflect.get(canvas, name);
      },
    }) as unknown as CanvasRenderingContext2D;
    const ink = { resolve: () => "#000", text: "#000", muted: "#000", font: "x" };
    const frame = { x: scaleOf("linear", 0, 2), y: scaleOf("linear", 0, 4) };
    const markers = [{ x: 1, label: "best checkpoint" }];
    paintScene(written, BOX, 1, { frame, lines: [], markers, ink, smoothing: false } as unknown as Scene);
    expect(aligned).toEqual(["left"]);
  });
});
