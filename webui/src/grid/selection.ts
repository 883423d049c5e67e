// Which rows are chosen: some by id, or all that match but some. Pure; the address writes it as `1,2,5-9` or `all-3`.

import type { Codec } from "../url/codecs";
import { idRanges } from "../url/codecs";

export interface Selection {
  /** "only": exactly `ids`. "allBut": everything that matches except `ids`. */
  mode: "only" | "allBut";
  ids: ReadonlySet<number>;
}

export const NOTHING: Selection = { mode: "only", ids: new Set() };
export const EVERYTHING: Selection = { mode: "allBut", ids: new Set() };

export function isChosen(selection: Selection, id: number): boolean {
  return selection.ids.has(id) === (selection.mode === "only");
}

export function toggled(selection: Selection, id: number): Selection {
  const ids = new Set(selection.ids);
  if (!ids.delete(id)) ids.add(id);
  return { ...selection, ids };
}

/** All of `ids` chosen, whatever they were. */
export function withAll(selection: Selection, ids: Iterable<number>): Selection {
  const next = new Set(selection.ids);
  for (const id of ids) {
    if (selection.mode === "only") next.add(id);
    else next.delete(id);
  }
  return { ...selection, ids: next };
}

/** How many are chosen of `total` that match. */
export function chosenCount(selection: Selection, total: number): number {
  return selection.mode === "only" ? selection.ids.size : Math.max(0, total - selection.ids.size);
}

export const selectionCodec: Codec<Selection> = {
  parse: (raw) => {
    const match = /^all(?:-(.*))?$/.exec(raw);
    const ids = idRanges.parse(match ? (match[1] ?? "") : raw);
    return ids && { mode: match ? "allBut" : "only", ids: new Set(ids) };
  },
  print: ({ mode, ids }) => {
    const listed = idRanges.print([...ids]);
    if (mode === "only") return listed;
    return listed === "" ? "all" : `all-${listed}`;
  },
};
