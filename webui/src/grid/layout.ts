// Where columns and rows are, which of them are in sight, and which element shows which row. Pure.

/** Pixels of the header, and of the column of tick boxes. */
export const HEADER_HEIGHT = 44;
export const TICK_WIDTH = 36;

export interface Placed<Column> {
  column: Column;
  index: number;
  left: number;
  width: number;
  pinned: boolean;
}

export interface ColumnLayout<Column> {
  placed: Placed<Column>[];
  pinnedWidth: number;
  width: number;
}

/** Pinned columns first, each behind the one before. `lead` is the room of the tick boxes. */
export function layoutColumns<Column extends { width: number; pinned?: boolean | undefined }>(
  columns: readonly Column[],
  lead: number,
): ColumnLayout<Column> {
  const ordered = [...columns.filter((one) => one.pinned), ...columns.filter((one) => !one.pinned)];
  let left = lead;
  let pinnedWidth = lead;
  const placed = ordered.map((column, index) => {
    const place = { column, index, left, width: column.width, pinned: column.pinned ?? false };
    left += column.width;
    if (place.pinned) pinnedWidth = left;
    return place;
  });
  return { placed, pinnedWidth, width: left };
}

/** Pinned columns, and the others that are in sight or nearly so. */
export function columnsInSight<Column>(
  layout: ColumnLayout<Column>,
  scrollLeft: number,
  viewWidth: number,
  focused: number | null,
  spare = 240,
): Placed<Column>[] {
  const from = scrollLeft + layout.pinnedWidth - spare;
  const to = scrollLeft + viewWidth + spare;
  return layout.placed.filter(
    (one) => one.pinned || one.index === focused || (one.left + one.width > from && one.left < to),
  );
}

export interface Window {
  first: number;
  last: number;
}

/** The rows to draw, both included; `last` is below `first` when there are none. */
export function rowsInSight(
  scrollTop: number,
  viewHeight: number,
  rowHeight: number,
  rowCount: number,
  spare: number,
): Window {
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - spare);
  const last = Math.min(rowCount - 1, Math.ceil((scrollTop + viewHeight) / rowHeight) - 1 + spare);
  return { first, last };
}

/** Row by element: rows keep their element while they are drawn, new ones take those that became free. */
export type Slots = ReadonlyMap<number, number>;

export function assignSlots(before: Slots, rows: readonly number[]): Slots {
  const wanted = new Set(rows);
  const used = new Set<number>();
  const next = new Map<number, number>();
  for (const [row, slot] of before) {
    if (!wanted.has(row)) continue;
    next.set(row, slot);
    used.add(slot);
  }
  let slot = 0;
  for (const row of rows) {
    if (next.has(row)) continue;
    while (used.has(slot)) slot += 1;
    next.set(row, slot);
    used.add(slot);
  }
  return next;
}

/** How far to scroll so that the span from `start` to `end` is wholly between `top` and `bottom`. */
export function scrollToShow(scroll: number, view: number, lead: number, start: number, end: number): number {
  if (start < scroll + lead) return Math.max(0, start - lead);
  return end > scroll + view ? end - view : scroll;
}
