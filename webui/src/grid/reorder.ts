// Moving columns: where a dragged header would land, and the same by menu. Pure.

import type { Placed } from "./layout";

/** The key of the column before which a header dropped at `x` (within the content) lands; null is the end. */
export function dropTarget<C extends { key: string }>(
  placed: readonly Placed<C>[],
  dragged: string,
  x: number,
): string | null {
  for (const one of placed) {
    if (one.column.key !== dragged && x < one.left + one.width / 2) return one.column.key;
  }
  return null;
}

/** The list with `key` put before `before`, or at the end. */
export function movedBefore<C extends { key: string }>(columns: readonly C[], key: string, before: string | null): C[] {
  const moving = columns.find((one) => one.key === key);
  if (moving === undefined || key === before) return [...columns];
  const rest = columns.filter((one) => one.key !== key);
  const at = before === null ? rest.length : rest.findIndex((one) => one.key === before);
  return [...rest.slice(0, at), moving, ...rest.slice(at)];
}

/** One place to the left (-1) or right (1) among columns that are pinned like it. */
export function movedBy<C extends { key: string; pinned?: boolean | undefined }>(
  columns: readonly C[],
  key: string,
  by: -1 | 1,
): C[] {
  const moving = columns.find((one) => one.key === key);
  const peers = columns.filter((one) => Boolean(one.pinned) === Boolean(moving?.pinned));
  const at = peers.findIndex((one) => one.key === key);
  const target = peers[at + by];
  if (moving === undefined || target === undefined) return [...columns];
  if (by === -1) return movedBefore(columns, key, target.key);
  return movedBefore(columns, target.key, key);
}

/** The sort after a press on a header: its own three steps alone, or as a further key. */
export function nextSort<S extends { key: string; descending: boolean }>(
  sorts: readonly S[],
  key: string,
  isAdded: boolean,
): { key: string; descending: boolean }[] {
  const now = sorts.find((one) => one.key === key);
  const others = isAdded ? sorts.filter((one) => one.key !== key) : [];
  if (now === undefined) return [...others, { key, descending: false }];
  if (now.descending) return others;
  if (!isAdded) return [{ key, descending: true }];
  return sorts.map((one) => (one.key === key ? { key, descending: true } : one));
}
