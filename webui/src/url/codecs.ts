// How values look in the address: each codec writes a value as text and reads it back, or says undefined.

export interface Codec<T> {
  parse: (text: string) => T | undefined;
  print: (value: T) => string;
}

export interface Sort {
  key: string;
  descending: boolean;
}

export const text: Codec<string> = { parse: (raw) => raw, print: (value) => value };

export const int: Codec<number> = {
  parse: (raw) => (/^-?\d{1,15}$/.test(raw) ? Number(raw) : undefined),
  print: (value) => String(Math.trunc(value)),
};

export const float: Codec<number> = {
  parse: (raw) => (raw.trim() !== "" && Number.isFinite(Number(raw)) ? Number(raw) : undefined),
  print: (value) => String(value),
};

export const flag: Codec<boolean> = {
  parse: (raw) => (["1", "true", ""].includes(raw) ? true : ["0", "false"].includes(raw) ? false : undefined),
  print: (value) => (value ? "1" : "0"),
};

/** Comma-separated; a comma inside an item is written as `\,`. */
export const list: Codec<string[]> = { parse: splitList, print: (items) => items.map(escapeItem).join(",") };

/** `-val_loss,id`: a minus means descending. */
export const sortList: Codec<Sort[]> = {
  parse: (raw) =>
    splitList(raw).map((item) =>
      item.startsWith("-") ? { key: item.slice(1), descending: true } : { key: item, descending: false },
    ),
  print: (sorts) => sorts.map((sort) => (sort.descending ? "-" : "") + escapeItem(sort.key)).join(","),
};

/** `1,2,5-9`: sorted, without repeats. */
export const idRanges: Codec<number[]> = { parse: parseRanges, print: printRanges };

/** One of the given words. */
export function oneOf<const T extends string>(...words: readonly T[]): Codec<T> {
  return { parse: (raw) => words.find((word) => word === raw), print: (value) => value };
}

const MOST_IDS = 100_000;

function splitList(raw: string): string[] {
  if (raw === "") return [];
  return (raw.match(/(?:\\.|[^,\\])*(?:,|$)/g) ?? [])
    .map((item) => item.replace(/,$/, "").replace(/\\(.)/g, "$1"))
    .filter((item) => item !== "");
}

function escapeItem(item: string): string {
  return item.replace(/[\\,]/g, (mark) => `\\${mark}`);
}

function parseRanges(raw: string): number[] | undefined {
  const ids = new Set<number>();
  for (const part of raw === "" ? [] : raw.split(",")) {
    const match = /^(\d{1,12})(?:-(\d{1,12}))?$/.exec(part.trim());
    if (!match) return undefined;
    const first = Number(match[1]);
    const last = match[2] === undefined ? first : Number(match[2]);
    if (last < first || ids.size + last - first >= MOST_IDS) return undefined;
    for (let id = first; id <= last; id++) ids.add(id);
  }
  return [...ids].sort((a, b) => a - b);
}

function printRanges(ids: number[]): string {
  const sorted = [...new Set(ids)].sort((a, b) => a - b);
  const runs: [number, number][] = [];
  for (const id of sorted) {
    const last = runs.at(-1);
    if (last && last[1] === id - 1) last[1] = id;
    else runs.push([id, id]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}
