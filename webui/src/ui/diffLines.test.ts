// The diff is right (both sides can be read back from it) and short.
import { expect, test } from "vitest";
import { changesIn, type DiffLine, diffLines, folded } from "./diffLines";

const side = (lines: DiffLine[], without: DiffLine["kind"]) =>
  lines.filter((line) => line.kind !== without).map((line) => line.text);

/** A small generator of its own, so that every run tests the same texts. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

/** Length of the longest common subsequence, by the table that everybody knows. */
function commonLength(a: string[], b: string[]): number {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      const row = table[i] as number[];
      const above = table[i - 1] as number[];
      row[j] = a[i - 1] === b[j - 1] ? (above[j - 1] ?? 0) + 1 : Math.max(above[j] ?? 0, row[j - 1] ?? 0);
    }
  }
  return table[a.length]?.[b.length] ?? 0;
}

test("a changed line is one removed and one added, with its numbers", () => {
  expect(diffLines("a\nb\nc\n", "a\nB\nc\n")).toEqual([
    { kind: "same", text: "a", before: 1, after: 1 },
    { kind: "removed", text: "b", before: 2, after: null },
    { kind: "added", text: "B", before: null, after: 2 },
    { kind: "same", text: "c", before: 3, after: 3 },
  ]);
});

test("from nothing everything is added, to nothing everything removed", () => {
  expect(changesIn(diffLines("", "a\nb"))).toEqual({ added: 2, removed: 0 });
  expect(changesIn(diffLines("a\nb", ""))).toEqual({ added: 0, removed: 2 });
  expect(diffLines("", "")).toEqual([]);
});

test("both texts read back from any diff, and no shorter diff exists", () => {
  const next = sequence(7);
  for (let round = 0; round < 300; round += 1) {
    const make = () => Array.from({ length: Math.floor(next() * 14) }, () => "abcd"[Math.floor(next() * 4)] ?? "a");
    const a = make();
    const b = make();
    const found = diffLines(a.join("\n"), b.join("\n"));
    expect(side(found, "added")).toEqual(a);
    expect(side(found, "removed")).toEqual(b);
    expect(found.filter((line) => line.kind === "same")).toHaveLength(commonLength(a, b));
  }
});

test("texts with nothing in common do not take for ever", () => {
  const many = (mark: string) => Array.from({ length: 6000 }, (_, index) => `${mark}${index}`).join("\n");
  const found = diffLines(many("a"), many("b"));
  expect(changesIn(found)).toEqual({ added: 6000, removed: 6000 });
});

test("equal lines far from a change are folded, a single one is not", () => {
  const before = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  const after = before.with(10, "changed");
  const shown = folded(diffLines(before.join("\n"), after.join("\n")));
  expect(shown.filter((one) => one.kind === "fold").map((one) => ("lines" in one ? one.lines.length : 0))).toEqual([
    7, 6,
  ]);
  const short = folded(diffLines("a\nb\nc\nd\ne", "a\nb\nc\nd\nE"));
  expect(short.every((one) => one.kind !== "fold")).toBe(true);
});
