// Everything a log view remembers in its address: filters, what is looked for, wrapping.

import { useMemo } from "react";
import { flag, list, oneOf, text, useUrlState } from "../url";
import type { LogFilters } from "./filters";
import { LEVELS, type Level } from "./line";

const LEVEL_WORDS = oneOf("all", ...LEVELS);
const MODES = oneOf("mark", "only");

export interface LogSettings {
  filters: LogFilters;
  find: string;
  isRegex: boolean;
  mode: "mark" | "only";
  isWrapped: boolean;
  hasTimes: boolean;
  setLevel: (level: Level | null) => void;
  setRanks: (ranks: string[]) => void;
  setAgents: (agents: string[]) => void;
  setContainers: (containers: string[]) => void;
  setStreams: (streams: string[]) => void;
  setSources: (sources: string[]) => void;
  setFrom: (from: string) => void;
  setTo: (to: string) => void;
  setFind: (find: string) => void;
  setRegex: (isRegex: boolean) => void;
  setMode: (mode: "mark" | "only") => void;
  setWrapped: (isWrapped: boolean) => void;
  setTimes: (hasTimes: boolean) => void;
  clear: () => void;
}

const NONE: string[] = [];
const PHONE_PX = 768; // below it the times would leave no room for the lines

export function useLogState(): LogSettings {
  const [level, setLevel] = useUrlState("level", LEVEL_WORDS, "all");
  const [ranks, setRanks] = useUrlState("rank", list, NONE);
  const [agents, setAgents] = useUrlState("agent", list, NONE);
  const [containers, setContainers] = useUrlState("container", list, NONE);
  const [streams, setStreams] = useUrlState("stream", list, NONE);
  const [sources, setSources] = useUrlState("source", list, NONE);
  const [from, setFrom] = useUrlState("from", text, "");
  const [to, setTo] = useUrlState("to", text, "");
  const [find, setFind] = useUrlState("find", text, "");
  const [isRegex, setRegex] = useUrlState("regex", flag, false);
  const [mode, setMode] = useUrlState("show", MODES, "mark");
  const [isWrapped, setWrapped] = useUrlState("wrap", flag, false);
  const [hasTimes, setTimes] = useUrlState("times", flag, window.innerWidth >= PHONE_PX);
  const key = JSON.stringify([level, ranks, agents, containers, streams, sources, from, to, find, isRegex, mode]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for every one of them
  const filters = useMemo<LogFilters>(
    () => ({
      level: level === "all" ? null : level,
      ranks: ranks.map(Number).filter((rank) => Number.isInteger(rank)),
      agents,
      containers,
      streams,
      sources,
      from: instant(from),
      to: instant(to),
      only: mode === "only" ? find : "",
      isRegex,
    }),
    [key],
  );
  const clear = (): void => {
    setLevel("all");
    for (const set of [setRanks, setAgents, setContainers, setStreams, setSources]) set(NONE);
    for (const set of [setFrom, setTo, setFind]) set("");
  };
  return {
    filters,
    find,
    isRegex,
    mode,
    isWrapped,
    hasTimes,
    setLevel: (next) => setLevel(next ?? "all"),
    setRanks,
    setAgents,
    setContainers,
    setStreams,
    setSources,
    setFrom,
    setTo,
    setFind: (next) => setFind(next, "replace"),
    setRegex,
    setMode,
    setWrapped,
    setTimes,
    clear,
  };
}

/** A time as a reader's own clock shows it, as the master wants it; nothing for what is no time. */
function instant(time: string): string {
  const date = new Date(time);
  return time === "" || Number.isNaN(date.getTime()) ? "" : date.toISOString();
}
