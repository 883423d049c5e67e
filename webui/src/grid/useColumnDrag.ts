// Dragging in the header: its handles change widths, its names change the order. Menus offer the same.
import { type PointerEvent, type RefObject, useCallback, useState } from "react";
import { layoutColumns, TICK_WIDTH } from "./layout";
import { dropTarget } from "./reorder";
import type { GridColumn, GridProps } from "./types";

const NARROWEST = 48;
const WIDEST = 1200;
const SLACK = 6;

export interface ColumnDrag {
  isDragging: boolean;
  /** Where a dragged column would land, in pixels of the content. */
  mark: number | null;
  resized: <Row>(columns: readonly GridColumn<Row>[]) => readonly GridColumn<Row>[];
  onResizeStart: (event: PointerEvent, key: string, width: number) => void;
  onGrab: (event: PointerEvent, key: string) => void;
}

export function useColumnDrag<Row>(scroller: RefObject<HTMLElement | null>, props: GridProps<Row>): ColumnDrag {
  const { columns, onResize, onReorder, selection } = props;
  const [draft, setDraft] = useState<{ key: string; width: number } | null>(null);
  const [mark, setMark] = useState<number | null>(null);
  const resized = useCallback(
    <R>(all: readonly GridColumn<R>[]) =>
      draft === null ? all : all.map((one) => (one.key === draft.key ? { ...one, width: draft.width } : one)),
    [draft],
  );
  const onResizeStart = (event: PointerEvent, key: string, width: number) => {
    event.stopPropagation();
    event.preventDefault();
    const from = event.clientX;
    const at = (x: number) => Math.round(Math.min(WIDEST, Math.max(NARROWEST, width + x - from)));
    follow({
      onMove: (move) => setDraft({ key, width: at(move.clientX) }),
      onEnd: (end, isDone) => {
        setDraft(null);
        if (isDone) onResize?.(key, at(end.clientX));
      },
    });
  };
  const onGrab = (event: PointerEvent, key: string) => {
    if (onReorder === undefined || event.button !== 0 || event.pointerType === "touch") return;
    if (event.target instanceof Element && event.target.closest("button, input, [data-resizer]")) return;
    const from = event.clientX;
    const { placed } = layoutColumns(columns, selection ? TICK_WIDTH : 0);
    let target: string | null | undefined;
    follow({
      onMove: (move) => {
        const element = scroller.current;
        if (!element || (target === undefined && Math.abs(move.clientX - from) < SLACK)) return;
        const x = move.clientX - element.getBoundingClientRect().left + element.scrollLeft;
        target = dropTarget(placed, key, x);
        const before = placed.find((one) => one.column.key === target);
        setMark(before ? before.left : (placed.at(-1)?.left ?? 0) + (placed.at(-1)?.width ?? 0));
      },
      onEnd: (_end, isDone) => {
        setMark(null);
        if (target === undefined || !isDone) return;
        swallowClick();
        onReorder(key, target);
      },
    });
  };
  return { isDragging: draft !== null || mark !== null, mark, resized, onResizeStart, onGrab };
}

interface Follower {
  onMove: (event: globalThis.PointerEvent) => void;
  onEnd: (event: globalThis.PointerEvent, isDone: boolean) => void;
}

/** Until the button is let go; Escape and a lost pointer undo. */
function follow({ onMove, onEnd }: Follower): void {
  const stop = new AbortController();
  const { signal } = stop;
  let last: globalThis.PointerEvent | null = null;
  const finish = (event: globalThis.PointerEvent, isDone: boolean) => {
    stop.abort();
    onEnd(event, isDone);
  };
  window.addEventListener(
    "pointermove",
    (event) => {
      last = event;
      onMove(event);
    },
    { signal },
  );
  window.addEventListener("pointerup", (event) => finish(event, true), { signal });
  window.addEventListener("pointercancel", (event) => finish(event, false), { signal });
  window.addEventListener("keydown", (event) => event.key === "Escape" && last && finish(last, false), { signal });
}

/** The click that ends a drag must not sort the column. */
function swallowClick(): void {
  const options = { capture: true, once: true };
  const swallow = (event: Event) => event.stopPropagation();
  window.addEventListener("click", swallow, options);
  setTimeout(() => window.removeEventListener("click", swallow, options), 0);
}
