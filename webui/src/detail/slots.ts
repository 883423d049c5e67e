// What the GPUs of a trial do, from the profiler's reports, which nest numbers by device.

import { isRecord } from "./plain";

export interface SlotReading {
  agent: string;
  part: string;
  utilisation: number | null;
  freeBytes: number | null;
}

/** What each GPU did in the latest report of every agent, from a trial's `summaryMetrics`. */
export function slotReadings(summary: Record<string, unknown> | null | undefined): SlotReading[] {
  const gpu = summary?.["gpu"];
  if (!isRecord(gpu)) return [];
  return Object.entries(gpu).flatMap(([agent, entry]) => (isRecord(entry) ? ofAgent(agent, entry["last"]) : []));
}

function ofAgent(agent: string, latest: unknown): SlotReading[] {
  if (!isRecord(latest)) return [];
  return Object.entries(latest).flatMap(([part, numbers]) =>
    isRecord(numbers)
      ? [{ agent, part, utilisation: numberIn(numbers, "gpu_util"), freeBytes: numberIn(numbers, "gpu_free_memory") }]
      : [],
  );
}

function numberIn(numbers: Record<string, unknown>, name: string): number | null {
  const value = numbers[name];
  return typeof value === "number" ? value : null;
}
