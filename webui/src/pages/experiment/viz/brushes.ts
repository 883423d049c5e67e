// Brushes of parallel coordinates as an address holds them: `lr:0.001..0.1;act:relu|tanh`.

import type { Codec } from "../../../url";
import type { Brushes } from "../../../viz/types";

export const brushes: Codec<Brushes> = { parse, print };

function print(value: Brushes): string {
  return Object.entries(value)
    .map(
      ([key, range]) => `${encodeURIComponent(key)}:${isRange(range) ? `${range[0]}..${range[1]}` : categories(range)}`,
    )
    .join(";");
}

function parse(text: string): Brushes | undefined {
  const found: Record<string, readonly [number, number] | readonly string[]> = {};
  for (const part of text.split(";").filter((one) => one !== "")) {
    const colon = part.lastIndexOf(":");
    if (colon < 1) return undefined;
    const key = decodeURIComponent(part.slice(0, colon));
    const words = part.slice(colon + 1);
    const range = /^(-?[\d.e+-]+)\.\.(-?[\d.e+-]+)$/i.exec(words);
    found[key] = range === null ? words.split("|").map(decodeURIComponent) : [Number(range[1]), Number(range[2])];
  }
  return found;
}

function categories(words: readonly (string | number)[]): string {
  return words.map((word) => encodeURIComponent(String(word))).join("|");
}

function isRange(range: readonly [number, number] | readonly string[]): range is readonly [number, number] {
  return range.length === 2 && typeof range[0] === "number";
}
