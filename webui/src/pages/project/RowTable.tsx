// Rows of the table, from what the address says: read, shown, chosen, compared; charts beside them.
import { useMemo } from "react";
import { chosenCount } from "../../grid/selection";
import type { Catalogue } from "../../query/catalogue";
import { type Filter, filterText } from "../../query/filter";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { Skeleton } from "../../ui/Skeleton";
import { useShortcut } from "../../ui/useShortcut";
import { idRanges, navigate } from "../../url";
import { BulkBar } from "./BulkBar";
import { NoMatch } from "./NoMatch";
import { RowGrid } from "./RowGrid";
import type { Kind } from "./rowValues";
import { SplitPane } from "./SplitPane";
import { StatusLine } from "./StatusLine";
import { readAllIds, type Wanted } from "./source";
import { TableCharts } from "./TableCharts";
import { resolvedSort, type TableState, wireSort } from "./tableState";
import { useTableRows } from "./useTableRows";

export interface RowTableProps {
  projectId: number;
  kind: Kind;
  catalogue: Catalogue;
  state: TableState;
  /** Null while the query line cannot be read. */
  filter: Filter | null;
}

export function RowTable(props: RowTableProps) {
  const { projectId, kind, catalogue, state, filter } = props;
  const wanted = useWanted(props);
  const table = useTableRows(wanted);
  const total = table.rows?.total ?? 0;
  const chosen = chosenCount(state.selection, total);
  const compare = () => void compareChosen(wanted, state);
  useShortcut("c", "Compare the selected trials", compare, kind === "run" && chosen >= 2);
  if (table.error && !table.rows) return <ErrorCard error={table.error} onRetry={table.refetch} />;
  if (!table.rows && filter === null) {
    return <Empty title="The query cannot be read">Mend or clear it to see the rows that match.</Empty>;
  }
  if (!table.rows) return <Skeleton rows={20} />;
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
  const grid = <RowGrid {...props} table={table} rows={table.rows} />;
  const hasCharts = kind === "run" && state.pane === "charts";
  return (
    <>
      <StatusLine table={table} total={total} kind={kind} state={state} isUnread={filter === null}>
        {chosen > 0 && filter && (
          <BulkBar
            chosen={{ kind, projectId, selection: state.selection, filter, count: chosen }}
            total={total}
            onSelection={state.setSelection}
            onCompare={compare}
            onDone={table.catchUpSoon}
          />
        )}
      </StatusLine>
      {table.error && <ErrorCard error={table.error} onRetry={table.refetch} />}
      {hasCharts ? <SplitPane first={grid} second={<TableCharts table={table} state={state} />} /> : grid}
    </>
  );
}

function useWanted({ projectId, kind, catalogue, state, filter }: RowTableProps): Wanted | null {
  const text = filter === null ? null : filterText(filter);
  const sort = useMemo(() => wireSort(resolvedSort(state.sort, catalogue)), [state.sort, catalogue]);
  return useMemo(() => (text === null ? null : { kind, projectId, filter: text, sort }), [kind, projectId, text, sort]);
}

async function compareChosen(wanted: Wanted | null, { selection, base }: TableState): Promise<void> {
  const isOnly = selection.mode === "only" || wanted === null;
  const ids = isOnly ? [...selection.ids] : (await readAllIds(wanted)).filter((id) => !selection.ids.has(id));
  navigate(`/compare?trials=${idRanges.print(ids)}${base > 0 ? `&base=${base}` : ""}`);
}
