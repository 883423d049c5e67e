// Roving focus: one cell is in the tab order, arrows move it, and the cell it is on is scrolled into sight.
import { type KeyboardEvent, type RefObject, useLayoutEffect, useRef, useState } from "react";
import { actionOf, type Cell, type KeyAction, moved } from "./keys";
import { type ColumnLayout, HEADER_HEIGHT, scrollToShow } from "./layout";
import type { GridColumn, GridProps } from "./types";

export interface GridFocus {
  cell: Cell;
  /** Moves the focus; `isTaken` also gives it to the cell's element. */
  moveTo: (cell: Cell, isTaken: boolean) => void;
  onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
  /** The row from which a range is chosen. */
  anchor: RefObject<number>;
}

export function useGridFocus<Row>(
  scroller: RefObject<HTMLElement | null>,
  props: GridProps<Row>,
  layout: ColumnLayout<GridColumn<Row>>,
  rowHeight: number,
): GridFocus {
  const [cell, setCell] = useState<Cell>({ row: 0, column: 0 });
  const wanted = useRef(false);
  const anchor = useRef(0);
  const inside = {
    row: Math.min(cell.row, props.rowCount - 1),
    column: Math.min(cell.column, Math.max(0, layout.placed.length - 1)),
  };
  useLayoutEffect(() => {
    if (!wanted.current) return;
    wanted.current = false;
    elementOf(scroller.current, cell)?.focus({ preventScroll: true });
  }, [cell, scroller]);
  const moveTo = (next: Cell, isTaken: boolean) => {
    wanted.current = isTaken;
    if (isTaken) show(scroller.current, next, layout, rowHeight);
    setCell(next);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (isInField(event.target)) return;
    const element = scroller.current;
    const page = Math.max(1, Math.floor(((element?.clientHeight ?? 0) - HEADER_HEIGHT) / rowHeight) - 1);
    const next = moved(inside, event, { rows: props.rowCount, columns: layout.placed.length, page });
    if (next) {
      event.preventDefault();
      moveTo(next, true);
      return;
    }
    const action = actionOf(event);
    if (action === null) return;
    const isDone = act(action, event, inside, props, layout, anchor);
    if (isDone) event.preventDefault();
  };
  return { cell: inside, moveTo, onKeyDown, anchor };
}

function act<Row>(
  action: KeyAction,
  event: KeyboardEvent,
  { row, column }: Cell,
  props: GridProps<Row>,
  layout: ColumnLayout<GridColumn<Row>>,
  anchor: RefObject<number>,
): boolean {
  const key = layout.placed[column]?.column.key;
  if (row === -1) return key !== undefined && actOnHeader(action, event, key, props);
  const shown = props.rowAt(row);
  if (action === "all") {
    props.onSelectAll?.(true);
    return props.onSelectAll !== undefined;
  }
  if (shown === undefined) return false;
  if (action === "toggle" && props.onToggle) {
    anchor.current = row;
    props.onToggle(row);
    return true;
  }
  if (action === "range" && props.onSelectRange) {
    props.onSelectRange(anchor.current, row);
    return true;
  }
  if (action === "open" && props.onOpen && !isControl(event.target)) {
    props.onOpen(shown);
    return true;
  }
  if (action === "menu" && props.onContextMenu && key !== undefined) {
    const box = (event.target as Element).getBoundingClientRect();
    props.onContextMenu(shown, key, { x: box.left + 8, y: box.bottom });
    return true;
  }
  return false;
}

function actOnHeader<Row>(action: KeyAction, event: KeyboardEvent, key: string, props: GridProps<Row>): boolean {
  const isSorted = action === "open" || action === "toggle" || action === "range";
  if (isSorted && props.columns.find((one) => one.key === key)?.sortable) {
    props.onSort(key, event.shiftKey);
    return true;
  }
  if (action !== "menu" || !props.onHeaderMenu) return false;
  const box = (event.target as Element).getBoundingClientRect();
  props.onHeaderMenu(key, { x: box.left, y: box.bottom });
  return true;
}

function show<Row>(
  element: HTMLElement | null,
  cell: Cell,
  layout: ColumnLayout<GridColumn<Row>>,
  rowHeight: number,
): void {
  if (!element) return;
  const place = layout.placed[cell.column];
  if (cell.row >= 0) {
    const top = HEADER_HEIGHT + cell.row * rowHeight;
    element.scrollTop = scrollToShow(element.scrollTop, element.clientHeight, HEADER_HEIGHT, top, top + rowHeight);
  }
  // a pinned cell is always in sight, but who goes to the first one wants to see what follows it
  if (cell.column === 0) element.scrollLeft = 0;
  if (place && !place.pinned) {
    element.scrollLeft = scrollToShow(
      element.scrollLeft,
      element.clientWidth,
      layout.pinnedWidth,
      place.left,
      place.left + place.width,
    );
  }
}

function elementOf(scroller: HTMLElement | null, cell: Cell): HTMLElement | null {
  return scroller?.querySelector<HTMLElement>(`[data-row="${cell.row}"] > [data-column="${cell.column}"]`) ?? null;
}

function isInField(target: EventTarget): boolean {
  return target instanceof HTMLElement && target.matches("input:not([type=checkbox]), textarea, select");
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("a, button, input");
}
