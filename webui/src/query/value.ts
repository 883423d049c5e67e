// Values of comparisons: what a column takes, as the API wants it, and as the language writes it.

import type { Column, Kind } from "./catalogue";
import type { FilterValue } from "./filter";
import { quote, type Token } from "./tokens";

export type ValueResult = { value: FilterValue } | { problem: string };

const UNIT_SECONDS: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
const STATES = ["ACTIVE", "PAUSED", "COMPLETED", "CANCELED", "ERROR", "STOPPING_COMPLETED", "STOPPING_CANCELED"];

const WANTED: Record<Kind, string> = {
  number: "a number",
  span: "a time span (90, 5m, 2h)",
  time: "a time (2026-11-15, 2026-11-15T08:30) or a span before now (7d)",
  text: "a text",
  state: "a state (COMPLETED)",
  labels: "a text",
  boolean: "true or false",
  data: "a number, a text, true or false",
};

/** `now` is what spans of time columns count back from, in milliseconds. */
export function readValue(token: Token, column: Column, now: number): ValueResult {
  const value = READERS[column.kind](token, now);
  if (value !== undefined) return { value };
  return { problem: `${column.name} is compared with ${WANTED[column.kind]}; ${token.value || '""'} is none` };
}

/** The value in the language: numbers bare, texts quoted, states and booleans as words. */
export function writtenValue(value: FilterValue, kind: Kind): string {
  if (value === null) return '""';
  if (kind === "state") return stateWord(String(value));
  if (kind === "boolean") return String(value === true || value === "true");
  if (kind === "number" || kind === "span")
    return Number.isFinite(Number(value)) ? String(Number(value)) : quote(String(value));
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return quote(value);
}

export function stateWord(state: string): string {
  return state.replace(/^STATE_/, "");
}

type Reader = (token: Token, now: number) => FilterValue | undefined;

const READERS: Record<Kind, Reader> = {
  number: (token) => (token.kind === "number" || isNumeric(token) ? Number(token.value) : undefined),
  span: (token) => (token.kind === "span" ? secondsOf(token.value) : READERS.number(token, 0)),
  time: readTime,
  text: (token) => (isValue(token) ? token.value : undefined),
  labels: (token) => (isValue(token) ? token.value : undefined),
  state: readState,
  boolean: (token) => readBoolean(token),
  data: readData,
};

function isValue(token: Token): boolean {
  return ["text", "name", "number", "span"].includes(token.kind);
}

/** A filter builder gives every value as text. */
function isNumeric(token: Token): boolean {
  return token.kind === "text" && token.value.trim() !== "" && Number.isFinite(Number(token.value));
}

function secondsOf(span: string): number {
  const unit = /[a-z]+$/.exec(span)?.[0] ?? "s";
  return Number.parseFloat(span) * (UNIT_SECONDS[unit] ?? 1);
}

function readTime(token: Token, now: number): string | undefined {
  if (token.kind === "span") return new Date(now - secondsOf(token.value) * 1000).toISOString();
  if (!isValue(token) || !/^\d{4}-\d\d-\d\d/.test(token.value)) return undefined;
  const at = Date.parse(token.value);
  return Number.isNaN(at) ? undefined : token.value;
}

function readState(token: Token): string | undefined {
  const word = stateWord(token.value.toUpperCase());
  const isKnown =
    STATES.includes(word) || ["STOPPING_ERROR", "STOPPING_KILLED", "DELETING", "DELETE_FAILED"].includes(word);
  return isValue(token) && isKnown ? `STATE_${word}` : undefined;
}

function readBoolean(token: Token): boolean | undefined {
  const word = token.value.toLowerCase();
  return word === "true" || word === "false" ? word === "true" : undefined;
}

function readData(token: Token): FilterValue | undefined {
  if (token.kind === "number") return Number(token.value);
  if (token.kind === "name") return readBoolean(token) ?? token.value;
  return isValue(token) ? token.value : undefined;
}

export { STATES };
