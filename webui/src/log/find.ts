// What is looked for in a log: the pattern, and the parts of a line that match it.

import type { Run, TextStyle } from "./ansi";

export interface Part {
  text: string;
  style: TextStyle | null;
  hit: boolean;
}

/** The pattern to mark hits with; null when there is nothing to mark or this browser cannot read the pattern. */
export function markerOf(text: string, isRegex: boolean): RegExp | null {
  if (text === "") return null;
  if (!isRegex) return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
  const insensitive = text.startsWith("(?i)");
  try {
    return new RegExp(insensitive ? text.slice(4) : text, insensitive ? "gi" : "g");
  } catch {
    return null;
  }
}

/** Cut styled runs where hits begin and end. */
export function mark(runs: readonly Run[], marker: RegExp | null): Part[] {
  if (marker === null) return runs.map((run) => ({ ...run, hit: false }));
  const hits = hitsIn(runs.map((run) => run.text).join(""), marker);
  if (hits.length === 0) return runs.map((run) => ({ ...run, hit: false }));
  const parts: Part[] = [];
  let at = 0;
  for (const run of runs) {
    parts.push(...cut(run, at, hits));
    at += run.text.length;
  }
  return parts;
}

/** The hit after or before the line that is shown; round at the ends. */
export function nextHit(ids: readonly number[], current: number | null, by: 1 | -1): number | null {
  if (ids.length === 0) return null;
  if (by === 1) return ids.find((id) => id > (current ?? -1)) ?? ids[0] ?? null;
  return ids.findLast((id) => id < (current ?? Number.POSITIVE_INFINITY)) ?? ids.at(-1) ?? null;
}

function hitsIn(text: string, marker: RegExp): [number, number][] {
  const found: [number, number][] = [];
  for (const match of text.matchAll(marker)) {
    if (match[0] !== "") found.push([match.index, match.index + match[0].length]);
  }
  return found;
}

function cut(run: Run, start: number, hits: readonly [number, number][]): Part[] {
  const end = start + run.text.length;
  const edges = new Set([start, end]);
  for (const [from, to] of hits) {
    if (from > start && from < end) edges.add(from);
    if (to > start && to < end) edges.add(to);
  }
  const sorted = [...edges].sort((a, b) => a - b);
  return sorted.slice(0, -1).map((from, i) => ({
    text: run.text.slice(from - start, (sorted[i + 1] ?? end) - start),
    style: run.style,
    hit: hits.some(([a, b]) => a <= from && from < b),
  }));
}
