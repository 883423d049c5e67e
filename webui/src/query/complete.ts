// What could come next at the cursor of a query line: columns, operators, values, and/or.

import { type Catalogue, type Column, isMetric, OPERATORS, shortest } from "./catalogue";
import { written } from "./operators";
import { quote, type Token, tokenize, writtenName } from "./tokens";
import { STATES } from "./value";

export interface Suggestion {
  /** What is written in place of `start` to `end`. */
  insert: string;
  label: string;
  /** What it is: "hyperparameter", "operator". */
  detail: string;
}

export interface Completion {
  start: number;
  end: number;
  suggestions: Suggestion[];
  /** The column whose values would help: the page asks the master for them. */
  valuesOf: Column | null;
}

const MOST = 12;

/** `values`: what the column of `valuesOf` holds, once known. */
export function complete(
  text: string,
  cursor: number,
  catalogue: Catalogue,
  values: readonly unknown[] = [],
): Completion {
  const tokens = tokenize(text.slice(0, cursor));
  const last = tokens.at(-1);
  const isTyping = last !== undefined && last.end === cursor && (last.isOpen || !/\s$/.test(text.slice(0, cursor)));
  const typed = isTyping && (last.kind === "name" || last.kind === "text" || last.kind === "number") ? last : null;
  const before = typed ? tokens.slice(0, -1) : tokens;
  const start = typed?.start ?? cursor;
  const place = placeAfter(before);
  const answer = suggestionsAt(place, before, typed, catalogue, values);
  return { start, end: cursor, suggestions: answer.suggestions.slice(0, MOST), valuesOf: answer.valuesOf };
}

type Place = "column" | "operator" | "value" | "joint";

/** Walks the tokens: column, operator, value, joint, and again. */
function placeAfter(tokens: readonly Token[]): Place {
  return tokens.reduce<Place>(nextPlace, "column");
}

function nextPlace(place: Place, token: Token): Place {
  const word = token.kind === "name" ? token.value.toLowerCase() : "";
  if (token.kind === "open") return place === "value" ? "value" : "column";
  if (token.kind === "close") return "joint";
  if (word === "and" || word === "or") return "column";
  if (token.kind === "comma" || token.kind === "operator" || word === "in") return "value";
  if (word === "is" || word === "not") return "operator";
  if (place !== "column") return "joint";
  return token.kind === "text" ? "joint" : "operator";
}

function suggestionsAt(
  place: Place,
  before: readonly Token[],
  typed: Token | null,
  catalogue: Catalogue,
  values: readonly unknown[],
): Pick<Completion, "suggestions" | "valuesOf"> {
  const text = typed?.value ?? "";
  if (place === "column") return { suggestions: columnsFor(text, catalogue), valuesOf: null };
  if (place === "joint") return { suggestions: words(["and", "or"], text, "joins two conditions"), valuesOf: null };
  const column = compared(before, catalogue);
  if (!column) return { suggestions: [], valuesOf: null };
  if (place === "operator") {
    const operators = [...new Set(OPERATORS[column.kind].map((one) => written(one, column.kind)))];
    return { suggestions: words(operators, text, "operator"), valuesOf: null };
  }
  return { suggestions: valuesFor(column, text, values), valuesOf: column };
}

/** The column of the comparison that is being written. */
function compared(before: readonly Token[], catalogue: Catalogue): Column | undefined {
  for (const token of [...before].reverse()) {
    if (token.kind !== "name") continue;
    if (["and", "or"].includes(token.value.toLowerCase())) return undefined;
    const column = catalogue.find(token.value);
    if (column) return column;
  }
  return undefined;
}

function columnsFor(text: string, catalogue: Catalogue): Suggestion[] {
  const wanted = text.toLowerCase();
  const found = catalogue.columns
    .map((column) => ({ column, rank: rankOf(column, wanted) }))
    .filter(({ rank }) => rank < 4)
    .sort((a, b) => a.rank - b.rank);
  return found.slice(0, MOST).map(({ column }) => {
    const short = catalogue.find(shortest(column)) === column ? shortest(column) : column.name;
    return { insert: `${writtenName(short)} `, label: short, detail: placeOf(column) };
  });
}

function rankOf(column: Column, wanted: string): number {
  const name = column.name.toLowerCase();
  if (shortest(column).toLowerCase().startsWith(wanted)) return 0;
  if (name.startsWith(wanted)) return 1;
  if (name.includes(wanted)) return 2;
  return column.label.toLowerCase().includes(wanted) ? 3 : 4;
}

function placeOf(column: Column): string {
  if (column.location.includes("HYPERPARAMETERS")) return "hyperparameter";
  if (column.location.includes("METADATA")) return "metadata";
  if (isMetric(column)) return "metric";
  return column.label;
}

function valuesFor(column: Column, text: string, values: readonly unknown[]): Suggestion[] {
  const known = column.kind === "state" ? STATES : column.kind === "boolean" ? ["true", "false"] : values.map(String);
  const wanted = text.toLowerCase();
  return known
    .filter((value) => value.toLowerCase().includes(wanted))
    .map((value) => ({ insert: `${writtenAs(column, value)} `, label: value, detail: "value" }));
}

function writtenAs(column: Column, value: string): string {
  if (["state", "boolean", "number", "span"].includes(column.kind)) return value.replace(/^STATE_/, "");
  const isBare = column.kind === "data" && value !== "" && Number.isFinite(Number(value));
  return isBare ? value : quote(value);
}

function words(all: readonly string[], text: string, detail: string): Suggestion[] {
  return all
    .filter((word) => word.startsWith(text.toLowerCase()))
    .map((word) => ({ insert: `${word} `, label: word, detail }));
}
