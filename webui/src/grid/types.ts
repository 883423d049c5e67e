// The words the grid speaks: columns, sorting, selection, and what it asks of and tells its page.

import type { ReactNode } from "react";
import type { Selection } from "./selection";

export interface Sort {
  key: string;
  descending: boolean;
}

export interface GridColumn<Row> {
  key: string;
  label: string;
  /** A second line of the header: where the column comes from. */
  detail?: string | undefined;
  width: number;
  align?: "left" | "right" | undefined;
  pinned?: boolean | undefined;
  sortable?: boolean | undefined;
  render: (row: Row) => ReactNode;
  /** Background of a cell, for heat colouring. */
  shade?: ((row: Row) => string | undefined) | undefined;
}

export interface Point {
  x: number;
  y: number;
}

export interface GridProps<Row> {
  label: string;
  columns: readonly GridColumn<Row>[];
  rowCount: number;
  /** Undefined while the row is on its way. */
  rowAt: (index: number) => Row | undefined;
  rowKey: (row: Row) => number;
  /** Another list: the grid goes back to its top. */
  resetKey?: string | undefined;
  /** Rows in sight, both included; called when they change. */
  onRange?: ((first: number, last: number) => void) | undefined;
  sort: readonly Sort[];
  /** `isAdded`: as a further key behind those there are. */
  onSort: (key: string, isAdded: boolean) => void;
  selection?: Selection | undefined;
  onToggle?: ((index: number) => void) | undefined;
  onSelectRange?: ((from: number, to: number) => void) | undefined;
  onSelectAll?: ((isAll: boolean) => void) | undefined;
  onOpen?: ((row: Row) => void) | undefined;
  onContextMenu?: ((row: Row, key: string, at: Point) => void) | undefined;
  onHeaderMenu?: ((key: string, at: Point) => void) | undefined;
  onResize?: ((key: string, width: number) => void) | undefined;
  /** Drops `key` before the column `before`; null is the end. */
  onReorder?: ((key: string, before: string | null) => void) | undefined;
  rowHeight?: number | undefined;
  /** A row on a narrow screen. */
  card?: ((row: Row) => ReactNode) | undefined;
  cardHeight?: number | undefined;
  /** The row that is being looked at elsewhere, for example the baseline. */
  markedKey?: number | null | undefined;
}
