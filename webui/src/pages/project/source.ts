// Where a table's rows come from: trials of a project, or its experiments.
import type { UseQueryOptions } from "@tanstack/react-query";
import { type ApiError, call } from "../../api/client";
import { keyOf } from "../../api/useApi";
import { type Kind, rowOfExperiment, rowOfRun, type TableRow } from "./rowValues";

export const PAGE_ROWS = 100;

export interface Wanted {
  kind: Kind;
  projectId: number;
  /** The JSON text of the filter. */
  filter: string;
  /** `id=desc,name=asc`. */
  sort: string;
}

export interface PageOfRows {
  rows: TableRow[];
  total: number;
}

export function pageQuery(wanted: Wanted, page: number): UseQueryOptions<PageOfRows, ApiError> {
  const body = bodyOf(wanted, page * PAGE_ROWS, PAGE_ROWS);
  const op = wanted.kind === "run" ? "searchRuns" : "searchExperiments";
  return {
    queryKey: [...keyOf(op, { body }), "rows"],
    queryFn: ({ signal }) => readRows(wanted, page * PAGE_ROWS, PAGE_ROWS, signal),
    staleTime: 30_000,
  };
}

export async function readRows(
  wanted: Wanted,
  offset: number,
  limit: number,
  signal?: AbortSignal,
): Promise<PageOfRows> {
  const body = bodyOf(wanted, offset, limit);
  if (wanted.kind === "run") {
    const answer = await call("searchRuns", { body }, signal);
    return { rows: answer.runs.map(rowOfRun), total: answer.pagination.total ?? answer.runs.length };
  }
  const answer = await call("searchExperiments", { body }, signal);
  return { rows: answer.experiments.map(rowOfExperiment), total: answer.pagination.total ?? answer.experiments.length };
}

/** Every id that matches, for verbs of the API that take no filter. */
export async function readAllIds(wanted: Wanted): Promise<number[]> {
  const ids: number[] = [];
  for (;;) {
    const page = await readRows(wanted, ids.length, 500);
    ids.push(...page.rows.map((row) => row.id));
    if (page.rows.length === 0 || ids.length >= page.total) return ids;
  }
}

function bodyOf({ filter, sort, projectId }: Wanted, offset: number, limit: number) {
  return { filter, projectId, sort, offset, limit };
}
