// Trials in groups with equal values: how many, and of each metric the exact mean, deviation, least and greatest.
import { useMemo } from "react";
import { useLive } from "../../api/live";
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import { Grid, type GridColumn } from "../../grid/Grid";
import { nextSort } from "../../grid/reorder";
import type { Catalogue, Column } from "../../query/catalogue";
import { allOf, type FieldNode, type Filter, filterText } from "../../query/filter";
import { print } from "../../query/print";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { bytes, count, duration, metricNumber } from "../../ui/format";
import { Skeleton } from "../../ui/Skeleton";
import { usePaced } from "../../ui/usePaced";
import { textOf } from "./cells";
import css from "./project.module.css";
import { labelOf } from "./tableColumns";
import { resolvedSort, type TableState, wireSort } from "./tableState";

type Group = Schemas["RunGroup"];
interface GroupRow extends Group {
  id: number;
}

const MOST_GROUPS = 1000;
const REFRESH_MS = 2000;
const MOST_METRICS = 24;
const NO_SUMS = new Set(["id", "experimentId", "forkedFrom", "restarts"]);

interface GroupTableProps {
  projectId: number;
  filter: Filter;
  catalogue: Catalogue;
  state: TableState;
}

export function GroupTable({ projectId, filter, catalogue, state }: GroupTableProps) {
  const keys = useMemo(() => state.groupBy.map((key) => catalogue.find(key)?.name ?? key), [state.groupBy, catalogue]);
  const numbers = useMemo(() => summedColumns(state, catalogue, keys), [state, catalogue, keys]);
  const sort = resolvedSort(state.sort, catalogue);
  const body = {
    projectId,
    filter: filterText(filter),
    groupBy: keys,
    groupMetrics: numbers.map((one) => one.name),
    sort: wireSort(sort),
    limit: MOST_GROUPS,
  };
  const answer = useApi("searchRuns", { body }, { keepPrevious: true });
  const refresh = usePaced(() => void answer.refetch({ cancelRefetch: false }), REFRESH_MS);
  useLive({ experiments: "all" }, refresh);
  const rows = useMemo<GroupRow[]>(() => (answer.data?.groups ?? []).map((one, id) => ({ ...one, id })), [answer.data]);
  const open = (row: GroupRow) =>
    state.openGroup(print(allOf(filter.filterGroup, conditionsOf(row, catalogue)), catalogue));
  const columns = [...keys.map((key) => keyColumn(key, catalogue, open)), COUNT, ...numbers.map(numberColumn)];
  if (answer.error) return <ErrorCard error={answer.error} onRetry={() => answer.refetch()} />;
  if (!answer.data) return <Skeleton rows={10} />;
  if (rows.length === 0) return <Empty title="No trial matches" />;
  const total = answer.data.pagination.total ?? rows.length;
  return (
    <>
      <p className={css["note"]}>
        {count(total)} groups{total > rows.length ? `, the first ${count(rows.length)} shown` : ""}; every trial that
        matches is counted.
      </p>
      <div className={css["gridArea"]}>
        <Grid
          label="Groups of trials"
          columns={columns}
          rowCount={rows.length}
          rowAt={(index) => rows[index]}
          rowKey={(row) => row.id}
          sort={sort}
          onSort={(key, isAdded) => state.setSort(nextSort(sort, key, isAdded))}
          onOpen={open}
          card={(row) => <GroupCard row={row} keys={keys} numbers={numbers} onOpen={() => open(row)} />}
        />
      </div>
    </>
  );
}

function summedColumns(state: TableState, catalogue: Catalogue, keys: readonly string[]): Column[] {
  const found = state.columns.map((one) => catalogue.find(one.key)).filter((one) => one !== undefined);
  const numbers = found.filter(
    (one) => one.type === "COLUMN_TYPE_NUMBER" && !NO_SUMS.has(one.name) && !keys.includes(one.name),
  );
  return numbers.slice(0, MOST_METRICS);
}

function keyColumn(key: string, catalogue: Catalogue, open: (row: GroupRow) => void): GridColumn<GroupRow> {
  return {
    key,
    label: labelOf(key, catalogue.find(key)),
    width: 200,
    pinned: true,
    sortable: true,
    // the grid has the focus: Enter on the cell does the same
    render: (row) => (
      <button type="button" tabIndex={-1} className={css["drill"]} onClick={() => open(row)}>
        {keyText(row.key[key])}
      </button>
    ),
  };
}

const COUNT: GridColumn<GroupRow> = {
  key: "n",
  label: "Trials",
  width: 90,
  align: "right",
  sortable: true,
  render: (row) => count(row.n),
};

function numberColumn(column: Column): GridColumn<GroupRow> {
  const { name } = column;
  return {
    key: name,
    label: labelOf(name, column),
    detail: "mean ± deviation, least to greatest",
    width: 300,
    align: "right",
    sortable: true,
    render: (row) => <Statistics found={row.metrics[name]} n={row.n} column={column} />,
  };
}

function Statistics({
  found,
  n,
  column,
}: {
  found: Schemas["ColumnStatistics"] | undefined;
  n: number;
  column: Column;
}) {
  if (!found || found.n === 0) return null;
  const text = writerOf(column);
  return (
    <>
      {text(found.mean)}
      {typeof found.std === "number" && ` ± ${text(Number(found.std.toPrecision(3)))}`}
      <span className={css["note"]}>
        {text(found.min)} to {text(found.max)}
        {found.n < n ? ` (${found.n} of ${n})` : ""}
      </span>
    </>
  );
}

function writerOf(column: Column): (value: number | null | undefined) => string {
  if (column.kind === "span") return duration;
  return column.name === "checkpointSize" ? bytes : metricNumber;
}

function GroupCard({
  row,
  keys,
  numbers,
  onOpen,
}: {
  row: GroupRow;
  keys: readonly string[];
  numbers: readonly Column[];
  onOpen: () => void;
}) {
  const [first] = numbers;
  return (
    <>
      <Button onPress={onOpen}>{keys.map((key) => keyText(row.key[key])).join(", ")}</Button>
      <div className={css["cardLine"]}>
        {count(row.n)} trials {first && <Statistics found={row.metrics[first.name]} n={row.n} column={first} />}
      </div>
    </>
  );
}

function keyText(value: unknown): string {
  if (value === null || value === undefined || value === "") return "(none)";
  return Array.isArray(value) ? value.join(", ") : textOf(value);
}

/** The trials of one group, as conditions. */
function conditionsOf(row: GroupRow, catalogue: Catalogue): FieldNode[] {
  return Object.entries(row.key).map(([key, value]) => {
    const column = catalogue.find(key);
    const base = {
      kind: "field" as const,
      columnName: key,
      location: column?.location ?? "",
      type: column?.type ?? "",
    };
    if (value === null || value === undefined) return { ...base, operator: "isEmpty" as const, value: null };
    const isScalar = ["string", "number", "boolean"].includes(typeof value);
    return {
      ...base,
      operator: "=" as const,
      value: isScalar ? (value as string | number | boolean) : JSON.stringify(value),
    };
  });
}
