// The columns of the grid from those that are chosen: label, width, alignment, cell, heat.
import { useMemo } from "react";
import { useApi } from "../../api/useApi";
import type { GridColumn } from "../../grid/types";
import { type Catalogue, type Column, isMetric } from "../../query/catalogue";
import { viridis } from "../../viz/viridis";
import { type CellContext, renderCell } from "./cells";
import { type ShownColumn, TREND } from "./columnList";
import { numberAt, type TableRow } from "./rowValues";

const LABELS: Record<string, string> = {
  id: "ID",
  experimentName: "Experiment",
  experimentId: "Experiment ID",
  experimentDescription: "Description",
  experimentProgress: "Progress",
  isExperimentMultitrial: "Part of a search",
  searcherMetricsVal: "Best metric",
  trend: "Trend",
};

const WIDTHS: Record<string, number> = {
  id: 76,
  experimentName: 220,
  name: 240,
  state: 124,
  trend: 124,
  tags: 160,
  startTime: 116,
  endTime: 116,
  duration: 96,
  user: 110,
  progress: 140,
  experimentProgress: 140,
};

const RIGHT = new Set(["number", "span"]);
const LEFT_ALWAYS = new Set(["experimentProgress", "progress"]);

export function useGridColumns(
  shown: readonly ShownColumn[],
  catalogue: Catalogue,
  context: CellContext,
  heat: readonly string[],
  ranges: ReadonlyMap<string, readonly [number, number]>,
): GridColumn<TableRow>[] {
  return useMemo(
    () => shown.map((one) => gridColumn(one, catalogue.find(one.key), context, heat, ranges)),
    [shown, catalogue, context, heat, ranges],
  );
}

export function labelOf(key: string, column: Column | undefined): string {
  if (LABELS[key] !== undefined) return LABELS[key];
  return (
    column?.label.replace(/^(training|validation)\./, "").replace(/ \((last|min|max|mean|sum|count)\)$/, "") ?? key
  );
}

/** Where the column comes from, in muted letters under its name. */
export function detailOf(column: Column | undefined): string | undefined {
  if (!column) return undefined;
  if (column.location.includes("HYPERPARAMETERS")) return "hyperparameter";
  if (column.location.includes("METADATA")) return "metadata";
  if (!isMetric(column)) return undefined;
  const [group = ""] = column.name.split(".");
  return `${group}, ${column.name.split(".").at(-1)}`;
}

function gridColumn(
  { key, width, pinned }: ShownColumn,
  column: Column | undefined,
  context: CellContext,
  heat: readonly string[],
  ranges: ReadonlyMap<string, readonly [number, number]>,
): GridColumn<TableRow> {
  const name = column?.name ?? key;
  const isNumeric = !LEFT_ALWAYS.has(key) && (RIGHT.has(column?.kind ?? "") || column?.type === "COLUMN_TYPE_NUMBER");
  const range = heat.includes(key) ? ranges.get(name) : undefined;
  return {
    key,
    label: labelOf(key, column),
    detail: detailOf(column),
    width: width ?? WIDTHS[key] ?? (isNumeric ? (context.base === null ? 130 : 190) : 150),
    align: isNumeric ? "right" : "left",
    pinned,
    sortable: key !== TREND,
    render: (row) => renderCell(row, name, column, context),
    ...(range === undefined ? {} : { shade: (row: TableRow) => shadeOf(numberAt(row, name), range) }),
  };
}

/** Pale enough for the text on it in both themes. */
function shadeOf(value: number | null, [low, high]: readonly [number, number]): string | undefined {
  if (value === null) return undefined;
  const unit = high > low ? (value - low) / (high - low) : 0.5;
  return `color-mix(in oklab, ${viridis(unit)} 34%, var(--bg))`;
}

/** From where to where the coloured columns go over all trials that match: exact, not of the rows at hand. */
export function useColumnRanges(
  projectId: number,
  filter: string | null,
  columns: readonly string[],
): ReadonlyMap<string, readonly [number, number]> {
  const body = { projectId, filter, groupBy: ["projectId"], groupMetrics: [...columns] };
  const answer = useApi(
    "searchRuns",
    { body },
    { enabled: columns.length > 0 && filter !== null, staleTime: 15_000, keepPrevious: true },
  );
  return useMemo(() => {
    const found = new Map<string, readonly [number, number]>();
    for (const [name, { min, max }] of Object.entries(answer.data?.groups?.[0]?.metrics ?? {})) {
      if (typeof min === "number" && typeof max === "number") found.set(name, [min, max]);
    }
    return found;
  }, [answer.data]);
}
