// What cells need besides their row: names of users, the baseline's row, points of the little charts.
import { useMemo } from "react";
import { useApi } from "../../api/useApi";
import type { CellContext } from "./cells";
import { type Kind, rowOfRun } from "./rowValues";
import type { TableRows } from "./useTableRows";
import { useTrends } from "./useTrends";

export function useCellContext(kind: Kind, baseId: number, table: TableRows, showsTrend: boolean): CellContext {
  const users = useApi("listUsers", { query: { limit: 10_000 } }, { enabled: kind === "run", staleTime: 60_000 });
  const answer = useApi(
    "searchRuns",
    { body: { filter: onlyTrial(baseId), limit: 1 } },
    { enabled: kind === "run" && baseId > 0 },
  );
  const trendOf = useTrends(showsTrend, table.range, table.rowAt);
  return useMemo(() => {
    const run = baseId > 0 ? answer.data?.runs[0] : undefined;
    const names = new Map((users.data?.users ?? []).map((one) => [one.id ?? 0, one.displayName || one.username]));
    return { users: names, base: run ? rowOfRun(run) : null, trendOf };
  }, [users.data, answer.data, baseId, trendOf]);
}

function onlyTrial(id: number): string {
  const field = {
    kind: "field",
    columnName: "id",
    location: "LOCATION_TYPE_RUN",
    type: "COLUMN_TYPE_NUMBER",
    operator: "=",
    value: id,
  };
  return JSON.stringify({ filterGroup: { kind: "group", conjunction: "and", children: [field] }, showArchived: true });
}
