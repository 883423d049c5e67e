// Operators of the language and of the API's filter, which are not quite the same for tags.

import type { Kind } from "./catalogue";
import type { Operator } from "./filter";

export const WRITTEN: Record<Operator, string> = {
  "=": "==",
  "!=": "!=",
  ">": ">",
  ">=": ">=",
  "<": "<",
  "<=": "<=",
  contains: "~",
  notContains: "!~",
  isEmpty: "is empty",
  notEmpty: "is not empty",
};

/** The words of the filter builder. */
export const WORDS: Record<Operator, string> = {
  "=": "is",
  "!=": "is not",
  ">": "greater than",
  ">=": "at least",
  "<": "less than",
  "<=": "at most",
  contains: "contains",
  notContains: "does not contain",
  isEmpty: "is empty",
  notEmpty: "is not empty",
};

const SPELLED: Record<string, Operator> = {
  "=": "=",
  "==": "=",
  "!=": "!=",
  ">": ">",
  ">=": ">=",
  "<": "<",
  "<=": "<=",
  "~": "contains",
  "!~": "notContains",
};

/** What an operator as typed means for a kind of column: a set of tags "equals" a tag that it contains. */
export function spelled(typed: string, kind: Kind): Operator | null {
  const operator = SPELLED[typed] ?? null;
  if (kind !== "labels") return operator;
  if (operator === "=") return "contains";
  return operator === "!=" ? "notContains" : operator;
}

export function written(operator: Operator, kind: Kind): string {
  if (kind === "labels" && operator === "contains") return "==";
  if (kind === "labels" && operator === "notContains") return "!=";
  return WRITTEN[operator];
}
