// Why a trial or an experiment failed, in words: from allocations, a label, the configuration; and where to look.

import { isRecord } from "./plain";

export interface EndedAllocation {
  exitReason?: string | null | undefined;
  statusCode?: number | null | undefined;
  endTime?: string | null | undefined;
}

export interface Cause {
  title: string;
  /** What the platform recorded, as it recorded it. */
  detail: string;
  exitCode: number | null;
  hint: string;
  /** A pattern of the line that explains it, for a search in the log. */
  pattern: string;
}

interface LogPolicy {
  name: string | null;
  pattern: string | null;
}

const EXCEPTION =
  "^([A-Za-z_][A-Za-z0-9_.]*(Error|Exception|Interrupt|Exit|HP)\\b|Killed|Segmentation fault|FATAL|panic:)";
const SIGNALS: Record<number, string> = {
  4: "SIGILL",
  6: "SIGABRT",
  7: "SIGBUS",
  9: "SIGKILL",
  11: "SIGSEGV",
  15: "SIGTERM",
};

export function causeOf(
  allocations: readonly EndedAllocation[],
  label: string | null | undefined,
  config: Record<string, unknown>,
): Cause {
  const last = allocations.filter((one) => one.endTime).at(-1);
  const code = last?.statusCode ?? null;
  const detail = last?.exitReason ?? "";
  const policy = policiesOf(config).find((one) => one.name === label && one.pattern !== null);
  return {
    title: titleOf(label, code),
    detail,
    exitCode: code,
    hint: hintOf(label, code),
    pattern: policy?.pattern ?? EXCEPTION,
  };
}

/** What the master recorded when it ended the experiment; null where it says no more than its trials do. */
export function experimentError(experiment: { state: string; error?: string | null | undefined }): string | null {
  const { state, error } = experiment;
  if (state !== "STATE_ERROR" && state !== "STATE_STOPPING_ERROR") return null;
  return error && !error.startsWith(EVERY_TRIAL) ? error : null;
}

const EVERY_TRIAL = "every trial failed";

export function signalOf(code: number): string | null {
  const number = code > 128 ? code - 128 : code < 0 ? -code : 0;
  return number === 0 ? null : (SIGNALS[number] ?? `signal ${number}`);
}

function titleOf(label: string | null | undefined, code: number | null): string {
  if (label) return `Failed: ${label}`;
  if (code === null || code === 0) return "Failed";
  const signal = signalOf(code);
  return signal === null ? `Failed with exit code ${code}` : `Ended by ${signal} (exit code ${code})`;
}

function hintOf(label: string | null | undefined, code: number | null): string {
  const words = (label ?? "").toLowerCase();
  if (words.includes("oom") || words.includes("memory")) {
    return "It ran out of memory: a smaller batch size, or a machine with more memory, may help.";
  }
  if (label) return `A log policy of this experiment named it "${label}".`;
  if (code !== null && signalOf(code) === "SIGKILL") return "Something killed it; often the machine ran out of memory.";
  return "";
}

function policiesOf(config: Record<string, unknown>): LogPolicy[] {
  const given = config["log_policies"];
  if (!Array.isArray(given)) return [];
  return given.filter(isRecord).map((one) => ({
    name: typeof one["name"] === "string" ? one["name"] : null,
    pattern: typeof one["pattern"] === "string" ? one["pattern"] : null,
  }));
}
