// The table of a project's trials or experiments: query line, builder, views, columns, rows, selection, charts beside.
import { useMemo } from "react";
import { useApi } from "../../api/useApi";
import { catalogueOf } from "../../query/catalogue";
import { parse } from "../../query/parse";
import { ErrorCard } from "../../ui/ErrorCard";
import { Skeleton } from "../../ui/Skeleton";
import { useSearch } from "../../url";
import { FIXED } from "./fixedColumns";
import css from "./project.module.css";
import { tableType } from "./QueryBar";
import type { Kind } from "./rowValues";
import { Table } from "./Table";
import { useRemembered } from "./useRemembered";
import { ViewTabs } from "./ViewTabs";

interface TableTabProps {
  projectId: number;
  kind: Kind;
  path: string;
}

export function TableTab({ projectId, kind, path }: TableTabProps) {
  const answer = useApi(
    "listProjectColumns",
    { path: { project_id: projectId }, query: { tableType: tableType(kind) } },
    { staleTime: 30_000, keepPrevious: true },
  );
  const columns = answer.data?.columns;
  const catalogue = useMemo(() => (columns ? catalogueOf(columns) : FIXED[kind]), [columns, kind]);
  const params = new URLSearchParams(useSearch());
  const query = params.get("q") ?? "";
  const isReadable = useMemo(() => parse(query, catalogue, Date.now()).error === null, [query, catalogue]);
  const isRestored = useRemembered(`${projectId}/${kind}`, isReadable);
  // a query, an order or columns may name what only the master knows; without them rows need not wait for it
  const isReady =
    isRestored && (columns !== undefined || !["q", "sort", "cols", "group", "heat"].some((name) => params.has(name)));
  return (
    <div className={css["tab"]}>
      <ViewTabs projectId={projectId} path={path} all={kind === "run" ? "All trials" : "All experiments"} />
      {answer.error && !answer.data && <ErrorCard error={answer.error} onRetry={() => answer.refetch()} />}
      {!answer.error && !isReady && <Skeleton rows={20} />}
      {isReady && <Table key={kind} projectId={projectId} kind={kind} catalogue={catalogue} />}
    </div>
  );
}
