// The pointer in the grid, heard once for all rows: ticks, focus, opening, menus, sorting.
import type { MouseEvent, RefObject } from "react";
import type { GridProps } from "./types";
import type { GridFocus } from "./useGridFocus";

interface Hit {
  row: number;
  column: number | null;
  target: Element;
}

export interface GridPointer {
  onClick: (event: MouseEvent) => void;
  onDoubleClick: (event: MouseEvent) => void;
  onContextMenu: (event: MouseEvent) => void;
}

export function useGridPointer<Row>(
  scroller: RefObject<HTMLElement | null>,
  props: GridProps<Row>,
  focus: GridFocus,
): GridPointer {
  const onClick = (event: MouseEvent) => {
    const hit = hitOf(event, scroller.current);
    if (!hit) return;
    if (hit.row === -1) return clickHeader(event, hit, props);
    if (isTick(hit.target)) return tick(event, hit.row, props, focus);
    if (hit.column === null) return;
    focus.moveTo({ row: hit.row, column: hit.column }, !isControl(hit.target));
    if ((event.ctrlKey || event.metaKey || event.shiftKey) && !isControl(hit.target))
      tick(event, hit.row, props, focus);
  };
  const onDoubleClick = (event: MouseEvent) => {
    const hit = hitOf(event, scroller.current);
    const row = hit && hit.row >= 0 && !isControl(hit.target) ? props.rowAt(hit.row) : undefined;
    if (row !== undefined) props.onOpen?.(row);
  };
  const onContextMenu = (event: MouseEvent) => {
    const hit = hitOf(event, scroller.current);
    const key = keyOf(hit, props, event.target as Element);
    if (!hit || key === null) return;
    const at = { x: event.clientX, y: event.clientY };
    if (hit.row === -1 && props.onHeaderMenu) {
      event.preventDefault();
      props.onHeaderMenu(key, at);
    }
    const row = hit.row >= 0 ? props.rowAt(hit.row) : undefined;
    if (row === undefined || !props.onContextMenu) return;
    event.preventDefault();
    props.onContextMenu(row, key, at);
  };
  return { onClick, onDoubleClick, onContextMenu };
}

function tick<Row>(event: MouseEvent, row: number, props: GridProps<Row>, focus: GridFocus): void {
  if (event.shiftKey) props.onSelectRange?.(focus.anchor.current, row);
  else props.onToggle?.(row);
  focus.anchor.current = row;
}

function clickHeader<Row>(event: MouseEvent, hit: Hit, props: GridProps<Row>): void {
  const menu = hit.target.closest<HTMLElement>("[data-menu]");
  if (menu) {
    const box = menu.getBoundingClientRect();
    props.onHeaderMenu?.(menu.dataset["menu"] ?? "", { x: box.left, y: box.bottom });
    return;
  }
  if (hit.target.closest("input, [data-resizer]")) return;
  const key = hit.target.closest<HTMLElement>("[data-key]")?.dataset["key"];
  const column = props.columns.find((one) => one.key === key);
  if (column?.sortable) props.onSort(column.key, event.shiftKey);
}

function keyOf<Row>(hit: Hit | null, props: GridProps<Row>, target: Element): string | null {
  if (!hit || hit.column === null) return null;
  const fromHeader = target.closest<HTMLElement>("[data-key]")?.dataset["key"];
  const ordered = [...props.columns.filter((one) => one.pinned), ...props.columns.filter((one) => !one.pinned)];
  return fromHeader ?? ordered[hit.column]?.key ?? null;
}

function hitOf(event: MouseEvent, scroller: HTMLElement | null): Hit | null {
  if (!(event.target instanceof Element) || !scroller?.contains(event.target)) return null;
  const row = event.target.closest<HTMLElement>("[data-row]")?.dataset["row"];
  if (row === undefined) return null;
  const column = event.target.closest<HTMLElement>("[data-column]")?.dataset["column"];
  return { row: Number(row), column: column === undefined ? null : Number(column), target: event.target };
}

function isTick(target: Element): boolean {
  return target.matches("input[type=checkbox]");
}

function isControl(target: Element): boolean {
  return target.closest("a, button, input") !== null;
}
