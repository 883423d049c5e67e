// The keyboard in the grid: which cell the focus goes to, and what a key does to the row. Pure.

export interface Cell {
  /** -1 is the header. */
  row: number;
  column: number;
}

export interface Extent {
  rows: number;
  columns: number;
  /** Rows of one page. */
  page: number;
}

export interface KeyLike {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

export type KeyAction = "toggle" | "range" | "all" | "open" | "menu";

/** The next cell, or null when the key moves nothing. */
export function moved(cell: Cell, event: KeyLike, extent: Extent): Cell | null {
  if (event.altKey) return null;
  const step = STEPS[event.key];
  if (step === undefined) return null;
  const next = step(cell, extent, event.ctrlKey || event.metaKey);
  return {
    row: Math.min(extent.rows - 1, Math.max(-1, next.row)),
    column: Math.min(extent.columns - 1, Math.max(0, next.column)),
  };
}

export function actionOf(event: KeyLike): KeyAction | null {
  const isCommand = event.ctrlKey || event.metaKey;
  if (event.key === " ") return event.shiftKey ? "range" : "toggle";
  if (event.key === "x" && !isCommand) return "toggle";
  if (event.key === "a" && isCommand) return "all";
  if (event.key === "Enter" && !isCommand) return "open";
  return event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey) ? "menu" : null;
}

type Step = (cell: Cell, extent: Extent, isFar: boolean) => Cell;

const STEPS: Record<string, Step> = {
  ArrowDown: ({ row, column }) => ({ row: row + 1, column }),
  ArrowUp: ({ row, column }) => ({ row: row - 1, column }),
  j: ({ row, column }) => ({ row: row + 1, column }),
  k: ({ row, column }) => ({ row: Math.max(0, row - 1), column }),
  ArrowRight: ({ row, column }) => ({ row, column: column + 1 }),
  ArrowLeft: ({ row, column }) => ({ row, column: column - 1 }),
  PageDown: ({ row, column }, { page }) => ({ row: row + page, column }),
  PageUp: ({ row, column }, { page }) => ({ row: Math.max(0, row - page), column }),
  Home: ({ row }, _extent, isFar) => ({ row: isFar ? 0 : row, column: 0 }),
  End: ({ row }, { rows, columns }, isFar) => ({ row: isFar ? rows - 1 : row, column: columns - 1 }),
};
