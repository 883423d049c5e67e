// Hooks between React and the plot: in view or not, mounted a few per frame, updated without rebuilding.
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { mounts } from "./mountQueue";
import { Plot, type PlotEvents, type View } from "./plot";
import type { SyncGroup } from "./syncGroup";

const MARGIN = "300px";

/** True while the element is in or near the viewport. */
export function useInView(ref: RefObject<HTMLElement | null>): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (ref.current === null) return;
    const observer = new IntersectionObserver((entries) => setSeen(entries.at(-1)?.isIntersecting ?? false), {
      rootMargin: MARGIN,
    });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, [ref]);
  return seen;
}

export interface PlotOptions {
  view: View;
  height: number;
  visible: boolean;
  group: SyncGroup;
  events: PlotEvents;
}

/** Keeps `plot` filled while the element is visible. */
export function usePlot(plot: RefObject<Plot | null>, host: RefObject<HTMLElement | null>, options: PlotOptions): void {
  const { view, height, visible, group } = options;
  const latest = useRef(options);
  useLayoutEffect(() => {
    latest.current = options;
  });
  useEffect(() => {
    const element = host.current;
    if (!visible || element === null) return;
    const takeBack = mounts.add(() => {
      plot.current = mountPlot(element, latest);
      plot.current.showCursor(group.get().cursor);
    });
    const unfollow = group.subscribe(() => plot.current?.showCursor(group.get().cursor));
    const observer = new ResizeObserver(() => plot.current?.resize(widthOf(element), latest.current.height));
    observer.observe(element);
    return () => {
      takeBack();
      unfollow();
      observer.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [plot, host, visible, group]);
  useEffect(() => plot.current?.update(view), [plot, view]);
  useEffect(() => {
    if (host.current !== null) plot.current?.resize(widthOf(host.current), height);
  }, [plot, host, height]);
}

function mountPlot(element: HTMLElement, latest: RefObject<PlotOptions>): Plot {
  const { view, height } = latest.current;
  return new Plot(element, { width: widthOf(element), height }, view, {
    onCursor: (x) => latest.current.events.onCursor(x),
    onSelect: (range) => latest.current.events.onSelect(range),
    onReset: () => latest.current.events.onReset(),
  });
}

function widthOf(element: HTMLElement): number {
  return Math.max(40, element.clientWidth);
}
