// The table itself, once its columns are known: from what the address says to rows, and from presses to the address.
import { Columns3, ListFilter } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { Grid } from "../../grid/Grid";
import { movedBefore, nextSort } from "../../grid/reorder";
import { chosenCount, EVERYTHING, NOTHING, toggled, withAll } from "../../grid/selection";
import type { Catalogue } from "../../query/catalogue";
import { type Filter, fieldsOf, filterText } from "../../query/filter";
import { parse } from "../../query/parse";
import { Button } from "../../ui/Button";
import { MenuAt } from "../../ui/ContextMenu";
import { ErrorCard } from "../../ui/ErrorCard";
import { count, plural } from "../../ui/format";
import { Menu } from "../../ui/Menu";
import { Skeleton } from "../../ui/Skeleton";
import { Switch } from "../../ui/Switch";
import { toast } from "../../ui/toast";
import { useShortcut } from "../../ui/useShortcut";
import { idRanges, navigate } from "../../url";
import { BulkBar } from "./BulkBar";
import { nounOf } from "./bulk";
import { ColumnPicker } from "./ColumnPicker";
import { TREND } from "./columnList";
import { FilterBuilder } from "./FilterBuilder";
import { GroupTable } from "./GroupTable";
import { headerItems, type OpenMenu, rowItems } from "./menus";
import { NoMatch } from "./NoMatch";
import css from "./project.module.css";
import { QueryBar } from "./QueryBar";
import { RowCard } from "./RowCard";
import type { Kind, TableRow } from "./rowValues";
import { SplitPane } from "./SplitPane";
import { readAllIds, type Wanted } from "./source";
import { TableCharts } from "./TableCharts";
import { labelOf, useColumnRanges, useGridColumns } from "./tableColumns";
import { resolvedSort, type TableState, useTableState, wireSort } from "./tableState";
import { useCellContext } from "./useCellContext";
import { type TableRows, useTableRows } from "./useTableRows";

interface TableProps {
  projectId: number;
  kind: Kind;
  catalogue: Catalogue;
}

export function Table({ projectId, kind, catalogue }: TableProps) {
  const state = useTableState(kind, catalogue);
  const [isBuilding, setBuilding] = useState(false);
  const [isPicking, setPicking] = useState(false);
  const filter = useFilter(state, catalogue);
  const isGrouped = kind === "run" && state.groupBy.length > 0;
  return (
    <>
      <div className={css["toolbar"]}>
        <QueryBar
          projectId={projectId}
          kind={kind}
          query={state.query}
          catalogue={catalogue}
          onQuery={state.setQuery}
        />
        <Button
          icon={<ListFilter size={14} aria-hidden="true" />}
          aria-pressed={isBuilding}
          onPress={() => setBuilding(!isBuilding)}
        >
          Filter
        </Button>
        <Button icon={<Columns3 size={14} aria-hidden="true" />} onPress={() => setPicking(true)}>
          Columns
        </Button>
        {kind === "run" && <GroupMenu state={state} catalogue={catalogue} />}
        <Switch isSelected={state.showArchived} onChange={state.setShowArchived}>
          Archived
        </Switch>
        {kind === "run" && (
          <Switch isSelected={state.pane === "charts"} onChange={(isOn) => state.setPane(isOn ? "charts" : "none")}>
            Charts
          </Switch>
        )}
      </div>
      {isBuilding && (
        <FilterBuilder
          projectId={projectId}
          kind={kind}
          tree={filter?.filterGroup ?? null}
          catalogue={catalogue}
          onQuery={state.setQuery}
        />
      )}
      {isPicking && (
        <ColumnPicker
          kind={kind}
          catalogue={catalogue}
          columns={state.columns}
          onColumns={state.setColumns}
          onClose={() => setPicking(false)}
        />
      )}
      {isGrouped && filter ? (
        <GroupTable projectId={projectId} filter={filter} catalogue={catalogue} state={state} />
      ) : (
        <RowTable projectId={projectId} kind={kind} catalogue={catalogue} state={state} filter={filter} />
      )}
    </>
  );
}

/** Null while the query line cannot be read. Who asks for archived ones is shown them. */
function useFilter(state: TableState, catalogue: Catalogue): Filter | null {
  const { query, showArchived } = state;
  return useMemo(() => {
    const { filter } = parse(query, catalogue, Date.now());
    if (!filter) return null;
    const asksForArchived = [...fieldsOf(filter)].some((field) => field.columnName === "archived");
    return { filterGroup: filter, showArchived: showArchived || asksForArchived };
  }, [query, showArchived, catalogue]);
}

function GroupMenu({ state, catalogue }: { state: TableState; catalogue: Catalogue }) {
  const offered = catalogue.columns.filter(
    (one) =>
      one.kind === "data" || ["state", "user", "resourcePool", "experimentName", "searcherType"].includes(one.name),
  );
  const items = offered.slice(0, 40).map((one) => {
    const isOn = state.groupBy.includes(one.name);
    return {
      id: one.name,
      label: `${isOn ? "✓ " : ""}${labelOf(one.name, one)}`,
      onAction: () =>
        state.setGroupBy(isOn ? state.groupBy.filter((key) => key !== one.name) : [...state.groupBy, one.name]),
    };
  });
  const none = {
    id: " none",
    label: "No groups",
    onAction: () => state.setGroupBy([]),
    isDisabled: state.groupBy.length === 0,
  };
  return (
    <Menu
      label={state.groupBy.length === 0 ? "Group" : `Group: ${state.groupBy.join(", ")}`}
      items={[none, ...items]}
    />
  );
}

interface RowTableProps extends TableProps {
  state: TableState;
  filter: Filter | null;
}

function RowTable({ projectId, kind, catalogue, state, filter }: RowTableProps) {
  const sort = useMemo(() => resolvedSort(state.sort, catalogue), [state.sort, catalogue]);
  const text = filter === null ? null : filterText(filter);
  const wanted = useMemo(
    () => (text === null ? null : { kind, projectId, filter: text, sort: wireSort(sort) }),
    [kind, projectId, text, sort],
  );
  const table = useTableRows(wanted);
  const showsTrend = state.columns.some((one) => one.key === TREND);
  const context = useCellContext(kind, state.base, table, showsTrend);
  const ranges = useColumnRanges(
    projectId,
    text,
    kind === "run" ? state.heat.map((key) => catalogue.find(key)?.name ?? key) : [],
  );
  const columns = useGridColumns(state.columns, catalogue, context, state.heat, ranges);
  const [menu, setMenu] = useState<OpenMenu | null>(null);
  const total = table.rows?.total ?? 0;
  const chosen = chosenCount(state.selection, total);
  const compare = () => void compareChosen(wanted, state);
  useShortcut("c", "Compare the selected trials", compare, kind === "run" && chosen >= 2);
  if (table.error && !table.rows) return <ErrorCard error={table.error} onRetry={table.refetch} />;
  if (!table.rows) return filter === null ? null : <Skeleton rows={20} />;
  if (total === 0 && table.updates === 0 && filter && !table.isOld) {
    return (
      <NoMatch
        projectId={projectId}
        kind={kind}
        filter={filter}
        catalogue={catalogue}
        onQuery={(query) => state.setQuery(query, "push")}
        onShowArchived={() => state.setShowArchived(true)}
      />
    );
  }
  const grid = (
    <div className={css["gridArea"]} aria-busy={table.isOld}>
      <Grid
        label={kind === "run" ? "Trials" : "Experiments"}
        columns={columns}
        rowCount={total}
        rowAt={table.rowAt}
        rowKey={rowKey}
        resetKey={table.rows.key}
        onRange={table.onRange}
        sort={state.sort}
        onSort={(key, isAdded) => state.setSort(nextSort(state.sort, key, isAdded))}
        selection={state.selection}
        onToggle={(index) => {
          const row = table.rowAt(index);
          if (row) state.setSelection(toggled(state.selection, row.id));
        }}
        onSelectRange={(from, to) => selectRange(table, state, from, to)}
        onSelectAll={(isAll) => state.setSelection(isAll ? EVERYTHING : NOTHING)}
        onOpen={(row) => navigate(row.href)}
        onContextMenu={(row, key, at) =>
          filter &&
          setMenu({ ...at, label: `${nounOf(kind)} ${row.id}`, items: rowItems(row, key, filter, catalogue, state) })
        }
        onHeaderMenu={(key, at) => {
          const width = columns.find((one) => one.key === key)?.width ?? 0;
          setMenu({
            ...at,
            label: `Column ${labelOf(key, catalogue.find(key))}`,
            items: headerItems(key, width, catalogue.find(key), state, kind),
          });
        }}
        onResize={(key, width) =>
          state.setColumns(state.columns.map((one) => (one.key === key ? { ...one, width } : one)))
        }
        onReorder={(key, before) => state.setColumns(movedBefore(state.columns, key, before))}
        markedKey={state.base || null}
        card={(row) => <RowCard row={row} context={context} />}
        cardHeight={104}
      />
    </div>
  );
  return (
    <>
      <StatusLine table={table} total={total} kind={kind} state={state} isUnread={filter === null}>
        {chosen > 0 && filter && (
          <BulkBar
            chosen={{ kind, projectId, selection: state.selection, filter, count: chosen }}
            total={total}
            onSelection={state.setSelection}
            onCompare={compare}
          />
        )}
      </StatusLine>
      {table.error && <ErrorCard error={table.error} onRetry={table.refetch} />}
      {kind === "run" && state.pane === "charts" ? (
        <SplitPane first={grid} second={<TableCharts table={table} state={state} />} />
      ) : (
        grid
      )}
      {menu && <MenuAt x={menu.x} y={menu.y} label={menu.label} items={menu.items} onClose={() => setMenu(null)} />}
    </>
  );
}

interface StatusLineProps {
  table: TableRows;
  total: number;
  kind: Kind;
  state: TableState;
  isUnread: boolean;
  /** Always in this line, so that the first tick moves nothing. */
  children: ReactNode;
}

function StatusLine({ table, total, kind, state, isUnread, children }: StatusLineProps): ReactNode {
  const noun = nounOf(kind);
  return (
    <div className={css["status"]}>
      <span role="status">
        {plural(total, noun)}
        {isUnread ? ", of the last query that could be read" : table.isOld ? ", reading…" : ""}
      </span>
      {state.base > 0 && (
        <span className={css["base"]}>
          Baseline: trial {state.base} <Button onPress={() => state.setBase(0)}>Clear</Button>
        </span>
      )}
      {table.updates > 0 && (
        <Button kind="primary" onPress={table.catchUp}>
          {count(table.updates)} {table.updates === 1 ? "update" : "updates"} ↑
        </Button>
      )}
      {children}
    </div>
  );
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

async function compareChosen(wanted: Wanted | null, { selection, base }: TableState): Promise<void> {
  const isOnly = selection.mode === "only" || wanted === null;
  const ids = isOnly ? [...selection.ids] : (await readAllIds(wanted)).filter((id) => !selection.ids.has(id));
  navigate(`/compare?trials=${idRanges.print(ids)}${base > 0 ? `&base=${base}` : ""}`);
}
