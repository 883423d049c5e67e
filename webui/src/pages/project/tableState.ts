// How a table is looked at: all of it in the address, so that a copied one shows the same; the last is remembered.
import { useEffect, useMemo, useRef } from "react";
import { call } from "../../api/client";
import { useApi } from "../../api/useApi";
import { NOTHING, type Selection, selectionCodec } from "../../grid/selection";
import type { Catalogue } from "../../query/catalogue";
import {
  flag,
  int,
  list,
  navigate,
  oneOf,
  type Sort,
  sortList,
  text,
  useLocation,
  useSearch,
  useUrlState,
} from "../../url";
import { columnsCodec, type ShownColumn, usualColumns } from "./columnList";
import type { Kind } from "./rowValues";

export type Pane = "none" | "charts";

export interface TableState {
  query: string;
  setQuery: (text: string, how?: "push" | "replace") => void;
  sort: Sort[];
  setSort: (sort: Sort[]) => void;
  columns: ShownColumn[];
  setColumns: (columns: ShownColumn[]) => void;
  groupBy: string[];
  setGroupBy: (columns: string[]) => void;
  /** The trial that others are compared with; 0 is none. */
  base: number;
  setBase: (id: number) => void;
  heat: string[];
  setHeat: (columns: string[]) => void;
  selection: Selection;
  setSelection: (selection: Selection) => void;
  showArchived: boolean;
  setShowArchived: (shown: boolean) => void;
  pane: Pane;
  setPane: (pane: Pane) => void;
}

const NO_SORT: Sort[] = [];
const NO_NAMES: string[] = [];
const PANE = oneOf("none", "charts");

export function useTableState(kind: Kind, catalogue: Catalogue): TableState {
  const usual = useMemo(() => usualColumns(kind, catalogue), [kind, catalogue]);
  const [query, setQuery] = useUrlState("q", text, "");
  const [sort, setSort] = useUrlState("sort", sortList, NO_SORT);
  const [columns, setColumns] = useUrlState("cols", columnsCodec, usual);
  const [groupBy, setGroupBy] = useUrlState("group", list, NO_NAMES);
  const [base, setBase] = useUrlState("base", int, 0);
  const [heat, setHeat] = useUrlState("heat", list, NO_NAMES);
  const [selection, setSelection] = useUrlState("sel", selectionCodec, NOTHING);
  const [showArchived, setShowArchived] = useUrlState("archived", flag, false);
  const [pane, setPane] = useUrlState<Pane>("pane", PANE, "none");
  return {
    query,
    setQuery,
    sort,
    setSort: (next) => setSort(next, "push"),
    columns,
    setColumns,
    groupBy,
    setGroupBy: (next) => setGroupBy(next, "push"),
    base,
    setBase,
    heat,
    setHeat,
    selection,
    setSelection,
    showArchived,
    setShowArchived: (next) => setShowArchived(next, "push"),
    pane,
    setPane,
  };
}

/** `val_loss` in an address means `validation.val_loss.last`. */
export function resolvedSort(sort: readonly Sort[], catalogue: Catalogue): Sort[] {
  return sort.map((one) => ({ ...one, key: catalogue.find(one.key)?.name ?? one.key }));
}

export function wireSort(sort: readonly Sort[]): string {
  return sort.map((one) => `${one.key}=${one.descending ? "desc" : "asc"}`).join(",");
}

const SAVE_MS = 1500;

/**
 * Restores the last look of a table that is opened without one, and remembers each whose query can be read. False until
 * that is known.
 */
export function useRemembered(place: string, isReadable: boolean): boolean {
  const search = useSearch();
  const [path] = useLocation();
  const opened = useRef({ place: "", isReady: false });
  const isBare = search === "";
  if (opened.current.place !== place) opened.current = { place, isReady: !isBare };
  const settings = useApi("GET /api/v1/users/setting", undefined, { enabled: !opened.current.isReady, staleTime: 0 });
  const saved = settings.data?.settings.find((one) => one.storagePath === PATH && one.key === place)?.value;
  const isKnown = opened.current.isReady || settings.isError || settings.isSuccess;
  useEffect(() => {
    if (!isKnown || opened.current.isReady) return;
    opened.current.isReady = true;
    // what this tab remembered is newer than what it read from the master
    const last = remembered.get(place) ?? readSaved(saved);
    if (last !== "" && window.location.search === "") navigate(`${path}?${last}`, { replace: true });
  }, [isKnown, saved, path, place]);
  useEffect(() => {
    if (!opened.current.isReady || !isReadable) return undefined;
    const timer = setTimeout(() => remember(place, withoutSelection(search)), SAVE_MS);
    return () => clearTimeout(timer);
  }, [place, search, isReadable]);
  return isKnown;
}

const PATH = "project-table";
const remembered = new Map<string, string>();

function remember(place: string, search: string): void {
  if (remembered.get(place) === search) return;
  remembered.set(place, search);
  const setting = { key: place, storagePath: PATH, value: JSON.stringify(search) };
  // a look that was not remembered is no reason to disturb anybody
  call("POST /api/v1/users/setting", { body: { settings: [setting] } }).catch(() => remembered.delete(place));
}

function readSaved(value: string | null | undefined): string {
  try {
    const read: unknown = JSON.parse(value ?? '""');
    return typeof read === "string" ? read : "";
  } catch {
    return "";
  }
}

/** What was ticked is of the moment. */
export function withoutSelection(search: string): string {
  const params = new URLSearchParams(search);
  params.delete("sel");
  return params.toString();
}
