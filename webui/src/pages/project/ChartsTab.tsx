// Charts of the trials of a project that match the query, without the table.
import { useMemo } from "react";
import { useApi } from "../../api/useApi";
import { type Catalogue, catalogueOf } from "../../query/catalogue";
import { filterText } from "../../query/filter";
import { parse } from "../../query/parse";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { Skeleton } from "../../ui/Skeleton";
import css from "./project.module.css";
import { QueryBar } from "./QueryBar";
import { TableCharts } from "./TableCharts";
import { resolvedSort, useTableState, wireSort } from "./tableState";
import { useTableRows } from "./useTableRows";

export function ChartsTab({ projectId }: { projectId: number }) {
  const answer = useApi(
    "listProjectColumns",
    { path: { project_id: projectId }, query: { tableType: "TABLE_TYPE_RUN" } },
    { staleTime: 30_000 },
  );
  const columns = answer.data?.columns;
  const catalogue = useMemo(() => (columns ? catalogueOf(columns) : null), [columns]);
  if (answer.error) return <ErrorCard error={answer.error} onRetry={() => answer.refetch()} />;
  return catalogue ? <Charts projectId={projectId} catalogue={catalogue} /> : <Skeleton rows={8} />;
}

function Charts({ projectId, catalogue }: { projectId: number; catalogue: Catalogue }) {
  const state = useTableState("run", catalogue);
  const wanted = useMemo(() => {
    const { filter } = parse(state.query, catalogue, Date.now());
    const sort = wireSort(resolvedSort(state.sort, catalogue));
    return (
      filter && {
        kind: "run" as const,
        projectId,
        filter: filterText({ filterGroup: filter, showArchived: state.showArchived }),
        sort,
      }
    );
  }, [state.query, state.sort, state.showArchived, catalogue, projectId]);
  const table = useTableRows(wanted);
  return (
    <div className={css["tab"]}>
      <div className={css["toolbar"]}>
        <QueryBar projectId={projectId} kind="run" query={state.query} catalogue={catalogue} onQuery={state.setQuery} />
      </div>
      {table.error && <ErrorCard error={table.error} onRetry={table.refetch} />}
      {table.rows?.total === 0 ? (
        <Nothing isFiltered={state.query.trim() !== ""} />
      ) : (
        <TableCharts table={table} state={state} />
      )}
    </div>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No trial matches">Change the query to see more.</Empty>;
  return <Empty title="No trials yet">Their metrics are drawn here once an experiment of this project runs.</Empty>;
}
