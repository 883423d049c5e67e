// Changes one value of a YAML text where it stands, so that comments and order survive. It knows block mappings with
// plain values only and answers null for the rest; the master reads the result, and the caller compares.
import { toYaml } from "../../detail/yaml";
import type { Edit, Path } from "./values";

export function editText(text: string, edits: readonly Edit[]): string | null {
  let now: string | null = text;
  for (const edit of edits) {
    if (now !== null) now = setInText(now, edit.path, edit.value);
  }
  return now;
}

export function setInText(text: string, path: Path, value: unknown): string | null {
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  if (lines.some((line) => /^\s*\t/.test(line) || /^(---|\.\.\.)/.test(line))) return null;
  const changed = setInBlock(lines, { first: 0, end: lines.length, indent: 0 }, path, value);
  return changed && `${changed.join("\n")}\n`;
}

interface Block {
  first: number;
  end: number;
  indent: number;
}

function setInBlock(lines: string[], block: Block, path: Path, value: unknown): string[] | null {
  const [key, ...rest] = path;
  if (key === undefined) return null;
  const at = findKey(lines, block, key);
  if (at === null) return value === undefined ? lines : inserted(lines, block, path, value);
  const end = endOf(lines, at, block);
  if (rest.length === 0) return replaced(lines, at, end, block.indent, key, value);
  const inner = innerBlock(lines, at, end, block.indent);
  return inner && setInBlock(lines, inner, rest, value);
}

const isBlank = (line: string): boolean => /^\s*(#.*)?$/.test(line);
const indentOf = (line: string): number => line.length - line.trimStart().length;

function findKey(lines: readonly string[], block: Block, key: string): number | null {
  for (let at = block.first; at < block.end; at += 1) {
    const line = lines[at] ?? "";
    if (isBlank(line) || indentOf(line) !== block.indent) continue;
    if (nameOf(line) === key) return at;
  }
  return null;
}

function nameOf(line: string): string | null {
  const found = /^\s*(?:"([^"\\]*)"|'([^']*)'|([^\s"'#&*!|>%@`{}[\],?:-][^:#]*?))\s*:(?:\s|$)/.exec(line);
  return found ? (found[1] ?? found[2] ?? found[3] ?? null) : null;
}

/** The first line after the value that begins at `at`; blank lines and comments behind it stay outside. */
function endOf(lines: readonly string[], at: number, block: Block): number {
  let end = at + 1;
  for (let next = at + 1; next < block.end; next += 1) {
    const line = lines[next] ?? "";
    if (isBlank(line)) continue;
    const isItem = indentOf(line) === block.indent && /^\s*-(\s|$)/.test(line);
    if (indentOf(line) <= block.indent && !isItem) break;
    end = next + 1;
  }
  return end;
}

/** The block below `key:`; null when its value is written otherwise. */
function innerBlock(lines: readonly string[], at: number, end: number, indent: number): Block | null {
  if (!/:\s*(#.*)?$/.test(lines[at] ?? "")) return null;
  const first = lines.slice(at + 1, end).find((line) => !isBlank(line));
  if (first === undefined || indentOf(first) <= indent || /^\s*-(\s|$)/.test(first)) return null;
  return { first: at + 1, end, indent: indentOf(first) };
}

function replaced(lines: string[], at: number, end: number, indent: number, key: string, value: unknown): string[] {
  const line = lines[at] ?? "";
  if (value === undefined) return [...lines.slice(0, at), ...lines.slice(end)];
  const plain = /^(\s*[^#]*?:\s+)((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'{[|>&*!#][^#]*?))(\s+#.*)?$/.exec(line);
  if (plain && end === at + 1 && isLeaf(value)) {
    return lines.with(at, `${plain[1]}${toYaml(value)}${plain[3] ?? ""}`);
  }
  return [...lines.slice(0, at), ...written(key, value, indent), ...lines.slice(end)];
}

function inserted(lines: string[], block: Block, path: Path, value: unknown): string[] {
  const [key = "", ...rest] = path;
  const whole = rest.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  let at = block.end;
  while (at > block.first && isBlank(lines[at - 1] ?? "")) at -= 1;
  return [...lines.slice(0, at), ...written(key, whole, block.indent), ...lines.slice(at)];
}

function written(key: string, value: unknown, indent: number): string[] {
  const pad = " ".repeat(indent);
  return toYaml({ [key]: value })
    .split("\n")
    .map((line) => pad + line);
}

function isLeaf(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}
