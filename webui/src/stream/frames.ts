// What the master sends over /stream, taken apart: synchronisation marks, signs of life, rows, deletions, resets.
import type { Noun, StreamEvent } from "./types";

export type Message =
  | { kind: "sync"; syncId: string; complete: boolean; seq: number | null; epoch: string | null }
  | { kind: "alive"; seq: number }
  | { kind: "events"; events: StreamEvent[] };

const NOUNS: Record<string, Noun> = {
  project: "projects",
  experiment: "experiments",
  trial: "trials",
  checkpoint: "checkpoints",
  task: "tasks",
  job: "jobs",
  agent: "agents",
  model: "models",
  modelversion: "modelversions",
};
const NUMBERED: ReadonlySet<string> = new Set(["projects", "experiments", "trials", "models", "modelversions"]);
const DELETED = "_deleted";
const MAX_RANGE = 1_000_000;

/** Messages of one frame in their order. Keys that a newer master may add are passed over. */
export function parseFrame(text: string): Message[] {
  const parsed: unknown = JSON.parse(text);
  const objects = Array.isArray(parsed) ? parsed : [parsed];
  return objects.flatMap((object) => messageOf(object as Record<string, unknown>));
}

export function resetOf(noun: Noun, seq: number): StreamEvent {
  return { noun, id: "*", seq, reset: true };
}

function messageOf(object: Record<string, unknown>): Message[] {
  if (typeof object.sync_id === "string") {
    const { sync_id: syncId, complete, seq, epoch } = object;
    return [{ kind: "sync", syncId, complete: complete === true, seq: numberOr(seq), epoch: textOr(epoch) }];
  }
  if (typeof object.alive === "number") return [{ kind: "alive", seq: object.alive }];
  const events = Object.entries(object).flatMap(([key, value]) => eventsOf(key, value));
  return events.length > 0 ? [{ kind: "events", events }] : [];
}

function eventsOf(key: string, value: unknown): StreamEvent[] {
  if (key === "reset" && Array.isArray(value)) return value.map((noun) => resetOf(noun as Noun, 0));
  if (key.endsWith(DELETED) && typeof value === "string")
    return deletions(key.slice(0, -DELETED.length) as Noun, value);
  if (typeof value !== "object" || value === null) return [];
  const row = camelKeys(value as Record<string, unknown>);
  if (key === "metrics") return [tick(row)];
  const noun = NOUNS[key];
  return noun ? [{ noun, id: row.id as string | number, seq: Number(row.seq), row }] : [];
}

function tick(row: Record<string, unknown>): StreamEvent {
  const [trialId, group] = [Number(row.trialId), String(row.group)];
  const lastBatch = Number(row.lastBatch);
  return { noun: "metrics", id: `${trialId}/${group}`, seq: Number(row.seq), trialId, group, lastBatch };
}

function deletions(noun: Noun, keys: string): StreamEvent[] {
  if (keys === "") return [];
  const ids = NUMBERED.has(noun) ? keys.split(",").flatMap(range) : keys.split(",");
  return ids.map((id) => ({ noun, id, seq: 0, deleted: true }));
}

/** "4-6" is 4, 5, 6. */
function range(part: string): number[] {
  const [first = Number.NaN, last = first] = part.split("-").map(Number);
  if (!(last >= first) || last - first > MAX_RANGE) return [];
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

function camelKeys(row: Record<string, unknown>): Record<string, unknown> {
  const camel = (key: string) => key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(row).map(([key, value]) => [camel(key), value]));
}

function numberOr(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function textOr(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
