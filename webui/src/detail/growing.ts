// Series that grow: new points are put behind the buckets at hand, as the master itself would have cut them. Pure.

import type { WirePosition, WireSeries, WireTrialSeries } from "./series";

/** What is held with what is new put in; null when the two do not fit together and everything must be read again. */
export function joined(
  held: readonly WireTrialSeries[],
  fresh: readonly WireTrialSeries[],
  points: number,
): readonly WireTrialSeries[] | null {
  const trials: WireTrialSeries[] = [];
  let isChanged = false;
  for (const next of fresh) {
    const before = held.find((one) => one.trialId === next.trialId);
    if (before === undefined) return null;
    const trial = joinedTrial(before, next, points);
    if (trial === null) return null;
    isChanged ||= trial !== before;
    trials.push(trial);
  }
  return isChanged ? trials : held;
}

/** What to send back for each trial and group, so that only what is new comes. */
export function sinceOf(held: readonly WireTrialSeries[]): string[] {
  return held.flatMap(({ trialId, positions }) => positions.map(({ group, token }) => `${trialId}/${group}/${token}`));
}

function joinedTrial(held: WireTrialSeries, fresh: WireTrialSeries, points: number): WireTrialSeries | null {
  const metrics = new Map(held.metrics.map((one) => [nameOf(one), one]));
  const goesOn = new Map(fresh.positions.map(({ group, continues }) => [group, continues]));
  for (const one of held.metrics) if (!goesOn.get(one.group)) metrics.delete(nameOf(one));
  for (const one of fresh.metrics) {
    const before = metrics.get(nameOf(one));
    const next = before === undefined ? one : grown(before, one, points);
    if (next === null) return null;
    metrics.set(nameOf(one), next);
  }
  const isSame = held.metrics.length === metrics.size && held.metrics.every((one) => metrics.get(nameOf(one)) === one);
  if (isSame && sameTokens(held.positions, fresh.positions)) return held;
  return { trialId: held.trialId, metrics: [...metrics.values()], positions: fresh.positions };
}

/** Points that are held already are passed over. Null: the new part is in buckets itself, or steps back. */
export function grown(held: WireSeries, fresh: WireSeries, points: number): WireSeries | null {
  const last = Number(held.x.at(-1) ?? Number.NEGATIVE_INFINITY);
  const from = fresh.x.findIndex((x) => Number(x) > last);
  if (from < 0) return held;
  if (!fresh.exact || fresh.x.slice(from).some((x, i, all) => i > 0 && Number(x) < Number(all[i - 1]))) return null;
  const buckets = new Buckets(held, points);
  for (let i = from; i < fresh.x.length; i++) buckets.add(fresh.x[i], fresh.last[i]);
  return buckets.series(held);
}

interface Bucket {
  x: unknown;
  last: unknown;
  low: number;
  high: number;
  count: number;
  notFinite: number;
}

class Buckets {
  #points: number;
  #size: number;
  #buckets: Bucket[];

  constructor(held: WireSeries, points: number) {
    this.#points = points;
    this.#size = held.exact ? 1 : (held.count[0] ?? 1);
    this.#buckets = held.x.map((x, i) => ({
      x,
      last: held.last[i],
      low: finite(held.min[i], Number.POSITIVE_INFINITY),
      high: finite(held.max[i], Number.NEGATIVE_INFINITY),
      count: held.count[i] ?? 1,
      notFinite: held.notFinite[i] ?? 0,
    }));
  }

  add(x: unknown, value: unknown): void {
    const isNumber = Number.isFinite(value);
    const point: Bucket = {
      x,
      last: value,
      low: finite(value, Number.POSITIVE_INFINITY),
      high: finite(value, Number.NEGATIVE_INFINITY),
      count: 1,
      notFinite: isNumber ? 0 : 1,
    };
    const tail = this.#buckets.at(-1);
    if (tail !== undefined && tail.count < this.#size) this.#buckets[this.#buckets.length - 1] = merged(tail, point);
    else this.#buckets.push(point);
    if (this.#buckets.length > this.#points) this.#mergePairs();
  }

  series({ name, group }: WireSeries): WireSeries {
    const all = this.#buckets;
    return {
      name,
      group,
      x: all.map((one) => one.x),
      last: all.map((one) => one.last),
      min: all.map((one) => (one.low > one.high ? one.last : one.low)),
      max: all.map((one) => (one.low > one.high ? one.last : one.high)),
      count: all.map((one) => one.count),
      notFinite: all.some((one) => one.notFinite > 0) ? all.map((one) => one.notFinite) : [],
      exact: this.#size === 1,
    };
  }

  #mergePairs(): void {
    const pairs: Bucket[] = [];
    for (let i = 0; i < this.#buckets.length; i += 2) {
      const [first, second] = this.#buckets.slice(i, i + 2);
      if (first !== undefined) pairs.push(second === undefined ? first : merged(first, second));
    }
    this.#buckets = pairs;
    this.#size *= 2;
  }
}

function merged(a: Bucket, b: Bucket): Bucket {
  return {
    x: b.x,
    last: b.last,
    low: Math.min(a.low, b.low),
    high: Math.max(a.high, b.high),
    count: a.count + b.count,
    notFinite: a.notFinite + b.notFinite,
  };
}

function finite(value: unknown, other: number): number {
  return typeof value === "number" && Number.isFinite(value) ? value : other;
}

function nameOf({ group, name }: { group: string; name: string }): string {
  return `${group}.${name}`;
}

function sameTokens(a: readonly WirePosition[], b: readonly WirePosition[]): boolean {
  return a.length === b.length && a.every(({ group, token }, i) => group === b[i]?.group && token === b[i]?.token);
}
