// Which lines were taken out and put in: Myers' shortest edit script over lines.
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
  const trace = furthest(a, b);
  return trace === null ? replaced : walkBack(trace, a.length, b.length);
}

/** The furthest x on the diagonals k = x - y that `edits` edits reach; those of other numbers of edits hold -1. */
class Reach {
  readonly edits: number;
  private readonly xs: Int32Array;

  constructor(edits: number) {
    this.edits = edits;
    this.xs = new Int32Array(2 * edits + 1).fill(-1);
  }

  at(k: number): number {
    return this.xs[k + this.edits] ?? -1;
  }

  set(k: number, x: number): void {
    this.xs[k + this.edits] = x;
  }
}

/** One Reach per number of edits, up to the one that reaches both ends; null when there are too many. */
function furthest(a: readonly string[], b: readonly string[]): Reach[] | null {
  const trace: Reach[] = [];
  for (let d = 0; d <= Math.min(MOST_EDITS, a.length + b.length); d += 1) {
    const reach = new Reach(d);
    trace.push(reach);
    for (let k = -d; k <= d; k += 2) {
      let x = d === 0 ? 0 : startOf(trace[d - 1], k).x;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reach.set(k, x);
      if (k === a.length - b.length && x >= a.length) return trace;
    }
  }
  return null;
}

/** Where diagonal k is entered: by an added line (down) or a removed one (right), whichever came further. */
function startOf(previous: Reach | undefined, k: number): { x: number; isDown: boolean } {
  const down = previous?.at(k + 1) ?? -1;
  const right = previous?.at(k - 1) ?? -1;
  return right < down ? { x: down, isDown: true } : { x: right + 1, isDown: false };
}

function walkBack(trace: readonly Reach[], width: number, height: number): Kind[] {
  const kinds: Kind[] = [];
  let x = width;
  let y = height;
  for (let d = trace.length - 1; d > 0; d -= 1) {
    const start = startOf(trace[d - 1], x - y);
    const equal = x - start.x;
    kinds.push(...same(equal), start.isDown ? "added" : "removed");
    x -= equal + (start.isDown ? 0 : 1);
    y -= equal + (start.isDown ? 1 : 0);
  }
  return [...kinds, ...same(x)].reverse();
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
