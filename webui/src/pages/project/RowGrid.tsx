// The grid of rows with its menus: presses in it become changes of the address.
import { useState } from "react";
import { Grid, type GridColumn } from "../../grid/Grid";
import { movedBefore, nextSort } from "../../grid/reorder";
import { EVERYTHING, NOTHING, toggled, withAll } from "../../grid/selection";
import { filterText } from "../../query/filter";
import { MenuAt } from "../../ui/ContextMenu";
import { plural } from "../../ui/format";
import { toast } from "../../ui/toast";
import { navigate } from "../../url";
import { nounOf } from "./bulk";
import type { CellContext } from "./cells";
import { TREND } from "./columnList";
import type { LiveRows } from "./liveRows";
import { headerItems, type OpenMenu, rowItems } from "./menus";
import css from "./project.module.css";
import { RowCard } from "./RowCard";
import type { RowTableProps } from "./RowTable";
import type { TableRow } from "./rowValues";
import { labelOf, useColumnRanges, useGridColumns } from "./tableColumns";
import type { TableState } from "./tableState";
import { useCellContext } from "./useCellContext";
import type { TableRows } from "./useTableRows";

interface RowGridProps extends RowTableProps {
  table: TableRows;
  rows: LiveRows<TableRow>;
}

export function RowGrid(props: RowGridProps) {
  const { kind, state, table, rows } = props;
  const [columns, context] = useShown(props);
  const [menu, setMenu] = useState<OpenMenu | null>(null);
  const toggle = (index: number) => {
    const row = table.rowAt(index);
    if (row) state.setSelection(toggled(state.selection, row.id));
  };
  const resize = (key: string, width: number) =>
    state.setColumns(state.columns.map((one) => (one.key === key ? { ...one, width } : one)));
  return (
    <div className={css["gridArea"]} aria-busy={table.isOld}>
      <Grid
        label={kind === "run" ? "Trials" : "Experiments"}
        columns={columns}
        rowCount={rows.total}
        rowAt={table.rowAt}
        rowKey={rowKey}
        resetKey={rows.key}
        onRange={table.onRange}
        sort={state.sort}
        onSort={(key, isAdded) => state.setSort(nextSort(state.sort, key, isAdded))}
        selection={state.selection}
        onToggle={toggle}
        onSelectRange={(from, to) => selectRange(table, state, from, to)}
        onSelectAll={(isAll) => state.setSelection(isAll ? EVERYTHING : NOTHING)}
        onOpen={(row) => navigate(row.href)}
        onContextMenu={(row, key, at) => setMenu(rowMenu(props, row, key, at))}
        onHeaderMenu={(key, at) => setMenu(headerMenu(props, columns, key, at))}
        onResize={resize}
        onReorder={(key, before) => state.setColumns(movedBefore(state.columns, key, before))}
        markedKey={state.base || null}
        card={(row) => <RowCard row={row} context={context} />}
        cardHeight={104}
      />
      {menu && <MenuAt x={menu.x} y={menu.y} label={menu.label} items={menu.items} onClose={() => setMenu(null)} />}
    </div>
  );
}

function useShown({
  projectId,
  kind,
  catalogue,
  state,
  filter,
  table,
}: RowGridProps): [GridColumn<TableRow>[], CellContext] {
  const hasTrend = state.columns.some((one) => one.key === TREND);
  const context = useCellContext(kind, state.base, table, hasTrend);
  const heat = kind === "run" ? state.heat.map((key) => catalogue.find(key)?.name ?? key) : [];
  const ranges = useColumnRanges(projectId, filter === null ? null : filterText(filter), heat);
  return [useGridColumns(state.columns, catalogue, context, state.heat, ranges), context];
}

function rowMenu(
  { kind, catalogue, state, filter }: RowGridProps,
  row: TableRow,
  key: string,
  at: { x: number; y: number },
): OpenMenu | null {
  return filter && { ...at, label: `${nounOf(kind)} ${row.id}`, items: rowItems(row, key, filter, catalogue, state) };
}

function headerMenu(
  { kind, catalogue, state }: RowGridProps,
  columns: readonly GridColumn<TableRow>[],
  key: string,
  at: { x: number; y: number },
): OpenMenu {
  const column = catalogue.find(key);
  const width = columns.find((one) => one.key === key)?.width ?? 0;
  return { ...at, label: `Column ${labelOf(key, column)}`, items: headerItems(key, width, column, state, kind) };
}

function rowKey(row: TableRow): number {
  return row.id;
}

function selectRange(table: TableRows, state: TableState, from: number, to: number): void {
  const ids: number[] = [];
  const [low, high] = from < to ? [from, to] : [to, from];
  for (let index = low; index <= high; index++) {
    const row = table.rowAt(index);
    if (row) ids.push(row.id);
  }
  const missing = high - low + 1 - ids.length;
  if (missing > 0)
    toast({
      text: `${plural(missing, "row")} of the range had not been read yet and were left out; select all, or scroll over them first`,
    });
  state.setSelection(withAll(state.selection, ids));
}
