// Cells of the table by kind of column: states, times, sizes, tags, numbers with their difference from the baseline.
import type { ReactNode } from "react";
import { colourOf } from "../../chart/colour";
import { Sparkline } from "../../chart/Sparkline";
import type { Column } from "../../query/catalogue";
import { ago, bytes, count, dateTime, duration, metricNumber } from "../../ui/format";
import { Progress } from "../../ui/Progress";
import { StatePill } from "../../ui/StatePill";
import { Tag } from "../../ui/Tag";
import { Link } from "../../url";
import css from "./project.module.css";
import { columnValue, deltaOf, numberAt, type TableRow } from "./rowValues";

export interface CellContext {
  users: ReadonlyMap<number, string>;
  base: TableRow | null;
  trendOf: (row: TableRow) => readonly (number | null)[] | undefined;
}

type Cell = (row: TableRow, context: CellContext) => ReactNode;

const CELLS: Record<string, Cell> = {
  id: (row) => (
    <Link href={row.href} tabIndex={-1} className={css["id"]}>
      {row.id}
    </Link>
  ),
  experimentName: nameCell,
  name: nameCell,
  state: (row) => <StatePill state={row.state} />,
  startTime: (row) => timeCell(columnValue(row, "startTime")),
  endTime: (row) => timeCell(columnValue(row, "endTime")),
  duration: (row) => duration(numberAt(row, "duration")),
  checkpointSize: (row) => bytes(String(columnValue(row, "checkpointSize") ?? "")),
  user: (row, { users }) => textOf(columnValue(row, "user") ?? (row.userId === null ? "" : users.get(row.userId))),
  tags: (row) => tagsCell(columnValue(row, "tags")),
  experimentProgress: (row) => progressCell(numberAt(row, "experimentProgress")),
  progress: (row) => progressCell(numberAt(row, "progress")),
  experimentId: (row) => (
    <Link href={`/experiments/${row.experimentId}`} tabIndex={-1}>
      {row.experimentId}
    </Link>
  ),
  forkedFrom: (row) => {
    const from = numberAt(row, "forkedFrom");
    return from === null ? (
      ""
    ) : (
      <Link href={`/experiments/${from}`} tabIndex={-1}>
        {from}
      </Link>
    );
  },
  trend: trendCell,
};

export function renderCell(row: TableRow, key: string, column: Column | undefined, context: CellContext): ReactNode {
  const cell = CELLS[key];
  if (cell) return cell(row, context);
  const value = columnValue(row, key);
  if (column?.kind === "number" || typeof value === "number") return numberCell(row, key, value, context.base);
  return textOf(value);
}

export function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" || typeof value === "number" ? String(value) : JSON.stringify(value);
}

function nameCell(row: TableRow): ReactNode {
  return (
    <>
      {row.trialId !== null && row.kind === "run" && (
        <span className={css["swatch"]} style={{ background: colourOf(row.trialId).colour }} aria-hidden="true" />
      )}
      <Link href={row.href} tabIndex={-1} title={row.name}>
        {row.name}
      </Link>
      {row.archived && <span className={css["note"]}>archived</span>}
    </>
  );
}

function timeCell(value: unknown): ReactNode {
  if (typeof value !== "string") return "";
  return (
    <time dateTime={value} title={dateTime(value)}>
      {ago(value)}
    </time>
  );
}

function tagsCell(value: unknown): ReactNode {
  return Array.isArray(value) ? value.map((tag) => <Tag key={String(tag)} text={String(tag)} />) : "";
}

function progressCell(value: number | null): ReactNode {
  if (value === null) return "";
  return (
    <>
      <Progress value={value} />
      <span className={css["percent"]}>{Math.round(value * 100)} %</span>
    </>
  );
}

function numberCell(row: TableRow, key: string, value: unknown, base: TableRow | null): ReactNode {
  const shown = metricNumber(value as number | string | null | undefined);
  if (base === null || base.id === row.id) return shown;
  const delta = deltaOf(numberAt(row, key), numberAt(base, key));
  if (delta === null || key === "id") return shown;
  return (
    <>
      {shown}
      <span className={css["delta"]}>{deltaText(delta)}</span>
    </>
  );
}

export function deltaText({ difference, part }: { difference: number; part: number | null }): string {
  if (difference === 0) return "±0";
  const sign = difference > 0 ? "▲" : "▼";
  const size =
    part === null || Math.abs(part) >= 10
      ? metricNumber(Number(Math.abs(difference).toPrecision(3)))
      : `${Number((Math.abs(part) * 100).toPrecision(2))} %`;
  return `${sign} ${size}`;
}

function trendCell(row: TableRow, { trendOf }: CellContext): ReactNode {
  const values = trendOf(row);
  if (values === undefined || values.length === 0) return "";
  const last = values.findLast((value) => value !== null);
  const label = `${row.searcherMetric} over ${count(values.length)} points, now ${metricNumber(last)}`;
  return (
    <Sparkline
      values={values}
      width={104}
      height={22}
      label={label}
      colour={row.trialId === null ? "currentColor" : colourOf(row.trialId).colour}
    />
  );
}
