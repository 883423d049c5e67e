// How a table is looked at: all of it in the address, so that a copied one shows the same.
import { useMemo } from "react";
import { NOTHING, type Selection, selectionCodec } from "../../grid/selection";
import type { Catalogue } from "../../query/catalogue";
import { flag, int, list, oneOf, type Sort, sortList, text, useUrlState } from "../../url";
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
  /** The query of the groups while the trials of one of them are shown; null while groups are, or none. */
  groupsQuery: string | null;
  /** Shows the trials of one group, and the groups again. Grouping and columns stay as they are. */
  openGroup: (query: string) => void;
  closeGroup: () => void;
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
  const [within, setWithin] = useUrlState("within", text, "");
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
    setGroupBy: (next) => {
      setGroupBy(next, "push");
      setWithin("", "replace");
    },
    groupsQuery: within === "" ? null : within.slice(1),
    openGroup: (next) => {
      setWithin(`=${query}`, "push");
      setQuery(next, "replace");
    },
    closeGroup: () => {
      setQuery(within.slice(1), "push");
      setWithin("", "replace");
    },
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
