// A canvas in device pixels that is drawn again when its size, the theme or the drawing changes, and only then.
import { type RefObject, useEffect, useLayoutEffect, useState } from "react";

export interface Size {
  width: number;
  height: number;
}

export type Draw = (pen: CanvasRenderingContext2D, size: Size) => void;

/** Width of the element in CSS pixels, 0 before the first layout. */
export function useWidth(ref: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}

/** `draw` works in CSS pixels and must be memoised. */
export function useCanvas(ref: RefObject<HTMLCanvasElement | null>, { width, height }: Size, draw: Draw): void {
  useEffect(() => {
    const canvas = ref.current;
    if (canvas === null || width <= 0) return;
    const frame = requestAnimationFrame(() => paint(canvas, { width, height }, draw));
    return () => cancelAnimationFrame(frame);
  }, [ref, width, height, draw]);
}

function paint(canvas: HTMLCanvasElement, size: Size, draw: Draw): void {
  const ratio = window.devicePixelRatio || 1;
  const pen = canvas.getContext("2d");
  if (pen === null) return;
  const width = Math.round(size.width * ratio);
  const height = Math.round(size.height * ratio);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, size.width, size.height);
  draw(pen, size);
}
