// The canvas with its pointer and keyboard: a slider along x to assistive technology, whose value is said in words.
import { type KeyboardEvent, type RefObject, useEffect, useRef } from "react";
import styles from "./Chart.module.css";
import { cursorAfter, rangeAfter } from "./keyboard";
import type { Plot, View } from "./plot";
import { cursorWords } from "./summary";
import type { SyncGroup } from "./syncGroup";
import type { Range } from "./types";
import { useInView, usePlot } from "./usePlot";

interface PlotAreaProps {
  title: string;
  summaryId: string;
  view: View;
  isLoading: boolean;
  height: number;
  group: SyncGroup;
  onZoom: (range: Range | null) => void;
  plot: RefObject<Plot | null>;
}

export function PlotArea({ title, summaryId, view, isLoading, height, group, onZoom, plot }: PlotAreaProps) {
  const host = useRef<HTMLDivElement>(null);
  const visible = useInView(host);
  const events = { onCursor: (x: number | null) => group.moveCursor(x), onSelect: onZoom, onReset: () => onZoom(null) };
  usePlot(plot, host, { view, height, visible, group, events });
  useSpokenCursor(host, view, group);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const cursor = group.get().cursor;
    const range = rangeAfter(event.key, view.frame.x, cursor);
    const next = cursorAfter(event.key, view.lines, view.frame.x, cursor);
    if (range === undefined && next === undefined) return;
    event.preventDefault();
    if (range !== undefined) onZoom(range);
    else group.moveCursor(next ?? null);
  };
  const empty = view.lines.every((line) => line.x.length === 0);
  return (
    <div className={styles.plot} style={{ height }}>
      <div
        ref={host}
        className={styles.host}
        role="slider"
        tabIndex={0}
        aria-label={`${title}: cursor along ${view.xLabel}`}
        aria-describedby={summaryId}
        aria-valuemin={view.frame.x.lo}
        aria-valuemax={view.frame.x.hi}
        aria-valuenow={view.frame.x.lo}
        aria-valuetext="no cursor; arrow keys move it, plus and minus zoom"
        onKeyDown={onKeyDown}
        onBlur={() => group.moveCursor(null)}
      />
      {empty && (isLoading ? <div className={styles.loading} /> : <p className={styles.empty}>No values yet</p>)}
    </div>
  );
}

/** Writes the cursor's words to the element itself: a state change per mouse move would render every chart again. */
function useSpokenCursor(host: RefObject<HTMLElement | null>, view: View, group: SyncGroup): void {
  useEffect(
    () =>
      group.subscribe(() => {
        const { cursor } = group.get();
        const element = host.current;
        if (cursor === null || element === null || document.activeElement !== element) return;
        element.setAttribute("aria-valuenow", String(cursor));
        element.setAttribute("aria-valuetext", cursorWords(view.lines, cursor, view));
      }),
    [host, view, group],
  );
}
