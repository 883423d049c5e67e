// Subscriptions as sets: several pages' wishes merged into one, written for the wire, and matched against events.
import type { Noun, StreamEvent, StreamSpec } from "./types";

export interface Filter {
  all: boolean;
  ids: Set<number>;
  parents: Set<number>;
}

export type Wanted = Map<Noun, Filter>;

/** Which fields of a subscription name the things themselves, and which their owner. */
const FIELDS: Partial<Record<Noun, readonly [string | null, string | null]>> = {
  experiments: ["experiment_ids", null],
  trials: ["trial_ids", "experiment_ids"],
  checkpoints: [null, "experiment_ids"],
  metrics: [null, "trial_ids"],
};

const EVERYTHING: Filter = { all: true, ids: new Set(), parents: new Set() };

/** A list without ids asks for nothing; on the wire it would ask for everything. */
export function wantedOf(spec: StreamSpec): Wanted {
  return new Map([...named(spec)].filter(([, { all, ids, parents }]) => all || ids.size + parents.size > 0));
}

function named(spec: StreamSpec): Wanted {
  const wanted: Wanted = new Map();
  if (spec.experiments) wanted.set("experiments", spec.experiments === "all" ? EVERYTHING : some(spec.experiments));
  if (spec.trials) {
    const { trialIds, experimentIds } = spec.trials;
    wanted.set("trials", trialIds || experimentIds ? some(trialIds, experimentIds) : EVERYTHING);
  }
  if (spec.checkpoints) wanted.set("checkpoints", some([], spec.checkpoints.experimentIds));
  if (spec.metrics) wanted.set("metrics", some([], spec.metrics.trialIds));
  for (const noun of ["jobs", "agents", "tasks", "projects", "models", "modelversions"] as const) {
    if (spec[noun]) wanted.set(noun, EVERYTHING);
  }
  return wanted;
}

export function union(many: Iterable<Wanted>): Wanted {
  const merged: Wanted = new Map();
  for (const wanted of many) {
    for (const [noun, filter] of wanted) {
      const known = merged.get(noun);
      merged.set(noun, known ? both(known, filter) : filter);
    }
  }
  return merged;
}

/** The message that subscribes. `since` null: only what changes from now on. */
export function subscribeMessage(wanted: Wanted, syncId: string, since: number | null, epoch: string): string {
  const subscribe: Record<string, Record<string, unknown>> = {};
  for (const [noun, filter] of wanted) subscribe[noun] = { since: since ?? -1, ...fieldsOf(noun, filter) };
  return JSON.stringify({ sync_id: syncId, known: {}, subscribe, extended: true, epoch });
}

/** Equal texts want the same. */
export function signature(wanted: Wanted): string {
  const parts = [...wanted].map(([noun, f]) => `${noun}:${f.all}:${sorted(f.ids)}:${sorted(f.parents)}`);
  return parts.sort().join(";");
}

/** Deletions and resets do not say whose they were: everybody who asked for the noun hears of them. */
export function takes(wanted: Wanted, event: StreamEvent): boolean {
  const filter = wanted.get(event.noun);
  if (!filter) return false;
  if (filter.all || event.deleted || event.reset) return true;
  if (typeof event.id === "number" && filter.ids.has(event.id)) return true;
  const parent = event.noun === "metrics" ? event.trialId : event.row?.experimentId;
  return typeof parent === "number" && filter.parents.has(parent);
}

function some(ids: number[] = [], parents: number[] = []): Filter {
  return { all: false, ids: new Set(ids), parents: new Set(parents) };
}

function both(a: Filter, b: Filter): Filter {
  if (a.all || b.all) return EVERYTHING;
  return { all: false, ids: new Set([...a.ids, ...b.ids]), parents: new Set([...a.parents, ...b.parents]) };
}

function fieldsOf(noun: Noun, filter: Filter): Record<string, number[]> {
  const [own, owner] = FIELDS[noun] ?? [null, null];
  if (filter.all) return {};
  return { ...(own ? { [own]: sorted(filter.ids) } : {}), ...(owner ? { [owner]: sorted(filter.parents) } : {}) };
}

function sorted(numbers: Set<number>): number[] {
  return [...numbers].sort((a, b) => a - b);
}
