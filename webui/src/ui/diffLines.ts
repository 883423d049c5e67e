// Lines that were taken out and put in, by the shortest edit script (Myers).
import { diffArrays } from "diff";

export interface DiffLine {
  kind: "same" | "removed" | "added";
  text: string;
  /** Line numbers from 1; null where the side has no such line. */
  before: number | null;
  after: number | null;
}

/** Folded: so many equal lines between two changes. */
export interface DiffFold {
  kind: "fold";
  lines: DiffLine[];
}

/** Beyond so many differing lines the search for the shortest script costs more than it tells. */
const MOST_EDITS = 1500;

export function diffLines(before: string, after: string): DiffLine[] {
  const a = linesOf(before);
  const b = linesOf(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) {
    tail += 1;
  }
  const middle = shortest(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  const kinds = [...same(head), ...middle, ...same(tail)];
  return numbered(kinds, a, b);
}

/** Equal lines farther than `context` from a change are folded. */
export function folded(lines: readonly DiffLine[], context = 3): (DiffLine | DiffFold)[] {
  const near = new Array<boolean>(lines.length).fill(false);
  lines.forEach((line, index) => {
    if (line.kind === "same") return;
    const last = Math.min(lines.length - 1, index + context);
    for (let at = Math.max(0, index - context); at <= last; at += 1) near[at] = true;
  });
  const shown: (DiffLine | DiffFold)[] = [];
  lines.forEach((line, index) => {
    const previous = shown.at(-1);
    if (near[index]) shown.push(line);
    else if (previous?.kind === "fold") previous.lines.push(line);
    else shown.push({ kind: "fold", lines: [line] });
  });
  // one hidden line takes as much room as the note about it
  return shown.flatMap((one) => (one.kind === "fold" && one.lines.length === 1 ? one.lines : [one]));
}

export function changesIn(lines: readonly DiffLine[]): { added: number; removed: number } {
  const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return { added: count("added"), removed: count("removed") };
}

type Kind = DiffLine["kind"];

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function same(n: number): Kind[] {
  return new Array<Kind>(n).fill("same");
}

function shortest(a: readonly string[], b: readonly string[]): Kind[] {
  const replaced = [...new Array<Kind>(a.length).fill("removed"), ...new Array<Kind>(b.length).fill("added")];
  if (a.length === 0 || b.length === 0) return replaced;
  const changes = diffArrays([...a], [...b], { maxEditLength: MOST_EDITS });
  return (
    changes?.flatMap(({ added, removed, count }) => new Array<Kind>(count).fill(kindOf(added, removed))) ?? replaced
  );
}

function kindOf(added: boolean, removed: boolean): Kind {
  if (added) return "added";
  return removed ? "removed" : "same";
}

function numbered(kinds: readonly Kind[], a: readonly string[], b: readonly string[]): DiffLine[] {
  let x = 0;
  let y = 0;
  return kinds.map((kind) => {
    const before = kind === "added" ? null : ++x;
    const after = kind === "removed" ? null : ++y;
    const text = (before === null ? b[y - 1] : a[x - 1]) ?? "";
    return { kind, text, before, after };
  });
}
