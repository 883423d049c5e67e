// Where log lines come from: a trial, a task, or the master itself. The only file here that talks to the master.

import { lines } from "../api/client";
import type { Operations } from "../api/schema";
import type { LogReader } from "./feed";
import { type LogFilters, passes, toQuery } from "./filters";
import { fromWire, type LogLine, type WireLine } from "./line";

export type LogSource = { kind: "trial"; trialId: number } | { kind: "task"; taskId: string } | { kind: "master" };

export interface LogFields {
  agentIds?: string[] | null | undefined;
  containerIds?: string[] | null | undefined;
  rankIds?: number[] | null | undefined;
  sources?: string[] | null | undefined;
  stdtypes?: string[] | null | undefined;
}

const MOST_HITS = 10_000;
const ASCENDING = "ORDER_BY_ASC" as const;
const DESCENDING = "ORDER_BY_DESC" as const;

export function readerOf(source: LogSource, filters: LogFilters): LogReader {
  return source.kind === "master" ? masterReader(filters) : taskReader(source, filters);
}

/** The values its filters can take. */
export async function fieldsOf(source: LogSource, signal: AbortSignal): Promise<LogFields> {
  if (source.kind === "master") return {};
  const found =
    source.kind === "trial"
      ? lines("streamTrialLogFields", { path: { trial_id: source.trialId } }, signal)
      : lines("streamTaskLogFields", { path: { task_id: source.taskId } }, signal);
  for await (const fields of found) return fields;
  return {};
}

/** Ids of the lines that match, in order; at most as many as a reader would ever step through. */
export async function hitsOf(
  source: LogSource,
  filters: LogFilters,
  find: { text: string; isRegex: boolean },
  signal: AbortSignal,
): Promise<{ ids: number[]; isAll: boolean }> {
  if (source.kind === "master") return masterHits(filters, find, signal);
  const query = { ...toQuery({ ...filters, only: find.text, isRegex: find.isRegex }), limit: MOST_HITS };
  const ids: number[] = [];
  for await (const line of linesOf(source, query, signal)) ids.push(Number(line.id));
  return { ids, isAll: ids.length < MOST_HITS };
}

/** Every line that passes the filters, as text; `onCount` hears how many there are so far. */
export async function download(
  source: LogSource,
  filters: LogFilters,
  onCount: (n: number) => void,
  signal: AbortSignal,
): Promise<Blob> {
  const parts: string[] = [];
  for await (const line of allOf(source, filters, signal)) {
    parts.push(line.printed);
    if (parts.length % 5000 === 0) onCount(parts.length);
  }
  return new Blob(parts, { type: "text/plain" });
}

export function fileName(source: LogSource): string {
  if (source.kind === "master") return "master-logs.txt";
  return source.kind === "trial" ? `trial-${source.trialId}-logs.txt` : `task-${source.taskId}-logs.txt`;
}

type TaskSource = Exclude<LogSource, { kind: "master" }>;
type LogQuery = Operations["streamTrialLogs"]["query"];

function linesOf(source: TaskSource, query: LogQuery, signal: AbortSignal): AsyncGenerator<WireLine> {
  return source.kind === "trial"
    ? lines("streamTrialLogs", { path: { trial_id: source.trialId }, query }, signal)
    : lines("streamTaskLogs", { path: { task_id: source.taskId }, query }, signal);
}

function taskReader(source: TaskSource, filters: LogFilters): LogReader {
  const base = toQuery(filters);
  return {
    async page(place, limit, signal) {
      const isForward = place.after !== undefined;
      const start = isForward ? { afterId: place.after } : place.before === undefined ? {} : { beforeId: place.before };
      const query = { ...base, ...start, limit, orderBy: isForward ? ASCENDING : DESCENDING };
      const found: LogLine[] = [];
      for await (const line of linesOf(source, query, signal)) found.push(fromWire(line));
      return isForward ? found : found.reverse();
    },
    async *follow(after, signal) {
      const query = { ...base, follow: true, ...(after === null ? {} : { afterId: after }) };
      for await (const line of linesOf(source, query, signal)) yield fromWire(line);
    },
  };
}

/** The master keeps its newest lines in memory, and numbers them; all of them are one page. */
function masterReader(filters: LogFilters): LogReader {
  return {
    async page(place, _limit, signal) {
      const { after = 0, before = Number.POSITIVE_INFINITY } = place;
      const found: LogLine[] = [];
      for await (const line of masterLines({}, signal)) found.push(line);
      return found.filter((line) => line.id > after && line.id < before && passes(line, filters));
    },
    async *follow(after, signal) {
      for await (const line of masterLines({ follow: true }, signal)) {
        if (line.id > (after ?? 0) && passes(line, filters)) yield line;
      }
    },
  };
}

async function* masterLines(
  query: Operations["streamMasterLogs"]["query"],
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  for await (const entry of lines("streamMasterLogs", { query }, signal)) yield fromWire(entry.logEntry);
}

async function masterHits(
  filters: LogFilters,
  find: { text: string; isRegex: boolean },
  signal: AbortSignal,
): Promise<{ ids: number[]; isAll: boolean }> {
  const wanted = { ...filters, only: find.text, isRegex: find.isRegex };
  const ids: number[] = [];
  for await (const line of masterLines({}, signal)) {
    if (passes(line, filters) && passes(line, wanted)) ids.push(line.id);
  }
  return { ids, isAll: true };
}

async function* allOf(source: LogSource, filters: LogFilters, signal: AbortSignal): AsyncGenerator<LogLine> {
  if (source.kind !== "master") {
    for await (const line of linesOf(source, toQuery(filters), signal)) yield fromWire(line);
    return;
  }
  for await (const line of masterLines({}, signal)) if (passes(line, filters)) yield line;
}
