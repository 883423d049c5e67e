// A log line as the page holds it, read from what the master sends for trials, tasks and itself.

export type Level = "TRACE" | "DEBUG" | "INFO" | "WARNING" | "ERROR" | "CRITICAL";

export const LEVELS: readonly Level[] = ["TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"];

export interface LogLine {
  id: number;
  level: Level | null;
  text: string;
  /** The whole line as `det` prints it, for downloads. */
  printed: string;
  time: string;
  rank: number | null;
}

export interface WireLine {
  id: string | number;
  level?: string | null | undefined;
  log?: string | null | undefined;
  message: string;
  timestamp: string;
  rankId?: number | null | undefined;
}

/** Lines of a trial's later tasks are numbered from the next multiple of this. */
const IDS_PER_TASK = 2 ** 40;

export function fromWire(wire: WireLine): LogLine {
  const text = (wire.log ?? wire.message).replace(/\n+$/, "");
  return {
    id: Number(wire.id),
    level: levelOf(wire.level),
    text,
    printed: wire.message.endsWith("\n") ? wire.message : `${wire.message}\n`,
    time: wire.timestamp,
    rank: wire.rankId ?? null,
  };
}

export function levelOf(name: string | null | undefined): Level | null {
  const short = (name ?? "").replace("LOG_LEVEL_", "");
  return LEVELS.find((level) => level === short) ?? null;
}

/** The number a reader sees: counted per task. */
export function shownNumber(id: number): number {
  return id % IDS_PER_TASK;
}

/** The line an address such as `#L120` points at. */
export function lineInHash(hash: string): number | null {
  const found = /^#L(\d+)$/.exec(hash);
  return found === null ? null : Number(found[1]);
}
