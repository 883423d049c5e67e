// Which group a chart belongs to, and what a grid knows of the charts inside it.
import { createContext, useContext, useEffect, useState } from "react";
import type { Line } from "./lines";
import { groupOf, SyncGroup } from "./syncGroup";
import type { XKind } from "./types";

export interface Member {
  title: string;
  xLabel: string;
  xKind: XKind;
  lines: readonly Line[];
}

export interface GridContext {
  syncKey: string;
  join(id: string, member: Member): void;
  leave(id: string): void;
}

export const Grid = createContext<GridContext | null>(null);

/** The named group, that of the grid around, or one of the chart's own. */
export function useGroup(syncKey: string | undefined): SyncGroup {
  const grid = useContext(Grid);
  const [own] = useState(() => new SyncGroup());
  const key = syncKey ?? grid?.syncKey;
  return key === undefined ? own : groupOf(key);
}

export function useMembership(id: string, { title, xLabel, xKind, lines }: Member): void {
  const grid = useContext(Grid);
  useEffect(() => grid?.join(id, { title, xLabel, xKind, lines }), [grid, id, title, xLabel, xKind, lines]);
  useEffect(() => () => grid?.leave(id), [grid, id]);
}
