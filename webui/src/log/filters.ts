// The filters of a log view and what they are on the wire.

import { LEVELS, type Level, type LogLine } from "./line";

export interface LogFilters {
  /** Lines at least this severe; null for all. */
  level: Level | null;
  ranks: number[];
  agents: string[];
  containers: string[];
  streams: string[];
  sources: string[];
  /** Times as the reader gave them, RFC 3339 or empty. */
  from: string;
  to: string;
  /** Only lines that contain this; empty for all. */
  only: string;
  isRegex: boolean;
}

export const NO_FILTERS: LogFilters = {
  level: null,
  ranks: [],
  agents: [],
  containers: [],
  streams: [],
  sources: [],
  from: "",
  to: "",
  only: "",
  isRegex: false,
};

export function isFiltered(filters: LogFilters): boolean {
  return JSON.stringify({ ...filters, isRegex: false }) !== JSON.stringify(NO_FILTERS);
}

/** Query parameters of the log endpoints. */
export function toQuery(filters: LogFilters): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  const put = (name: string, values: readonly (string | number)[]): void => {
    if (values.length > 0) query[name] = values;
  };
  put("levels", levelsFrom(filters.level));
  put("rankIds", filters.ranks);
  put("agentIds", filters.agents);
  put("containerIds", filters.containers);
  put("stdtypes", filters.streams);
  put("sources", filters.sources);
  if (filters.from !== "") query["timestampAfter"] = filters.from;
  if (filters.to !== "") query["timestampBefore"] = filters.to;
  if (filters.only !== "") query["searchText"] = filters.only;
  if (filters.only !== "" && filters.isRegex) query["enableRegex"] = true;
  return query;
}

/** What plain `print` says has no level: it counts as information. */
export function levelsFrom(least: Level | null): string[] {
  if (least === null) return [];
  const wanted = LEVELS.slice(LEVELS.indexOf(least)).map((level) => `LOG_LEVEL_${level}`);
  return LEVELS.indexOf(least) <= LEVELS.indexOf("INFO") ? ["LOG_LEVEL_UNSPECIFIED", ...wanted] : wanted;
}

/** The filters that make sense for lines without origin, applied here: the master's own log takes none. */
export function passes(line: LogLine, filters: LogFilters): boolean {
  if (!levelsFrom(filters.level).some((name) => name.endsWith(line.level ?? "UNSPECIFIED")) && filters.level)
    return false;
  if (filters.from !== "" && Date.parse(line.time) <= Date.parse(filters.from)) return false;
  if (filters.to !== "" && Date.parse(line.time) >= Date.parse(filters.to)) return false;
  if (filters.only === "") return true;
  if (!filters.isRegex) return line.text.toLowerCase().includes(filters.only.toLowerCase());
  try {
    return new RegExp(filters.only).test(line.text);
  } catch {
    return false;
  }
}
