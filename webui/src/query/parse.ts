// The query language: `hp.lr > 1e-3 and state == COMPLETED and (val_loss < 0.3 or tag == "x") or name ~ "foo"`.
// Text in, the API's filter tree out, or what is wrong and where.

import { type Catalogue, type Column, nearest, OPERATORS } from "./catalogue";
import {
  type Conjunction,
  EVERYTHING,
  type FieldNode,
  type FilterNode,
  type GroupNode,
  group,
  type Operator,
} from "./filter";
import { spelled, WRITTEN } from "./operators";
import { isKeyword, type Token, tokenize } from "./tokens";
import { readValue } from "./value";

export interface QueryError {
  message: string;
  /** Where in the text, so that it can be underlined. */
  start: number;
  end: number;
}

export type Parsed = { filter: GroupNode; error: null } | { filter: null; error: QueryError };

/** `now` in milliseconds: what `startTime > 7d` counts back from. */
export function parse(text: string, catalogue: Catalogue, now: number): Parsed {
  const reader = new Reader(text, catalogue, now);
  try {
    return { filter: reader.whole(), error: null };
  } catch (problem) {
    if (problem instanceof Problem) return { filter: null, error: problem.error };
    throw problem;
  }
}

class Problem extends Error {
  readonly error: QueryError;

  constructor(error: QueryError) {
    super(error.message);
    this.error = error;
  }
}

class Reader {
  private readonly text: string;
  private readonly catalogue: Catalogue;
  private readonly now: number;
  private readonly tokens: Token[];
  private at = 0;

  constructor(text: string, catalogue: Catalogue, now: number) {
    this.text = text;
    this.catalogue = catalogue;
    this.now = now;
    this.tokens = tokenize(text);
  }

  whole(): GroupNode {
    if (this.tokens.length === 0) return EVERYTHING;
    const node = this.anyOf();
    const left = this.peek();
    if (left?.kind === "close") throw this.problem("this parenthesis closes nothing", left);
    if (left) throw this.problem(`expected "and" or "or" before ${this.shown(left)}`, left);
    return node.kind === "group" ? node : group("and", [node]);
  }

  private anyOf(): FilterNode {
    return this.joined("or", () => this.joined("and", () => this.clause()));
  }

  private joined(word: Conjunction, next: () => FilterNode): FilterNode {
    const parts = [next()];
    while (this.isWord(word)) {
      this.at += 1;
      parts.push(next());
    }
    const [only] = parts;
    return only !== undefined && parts.length === 1
      ? only
      : group(
          word,
          parts.flatMap((part) => flattened(part, word)),
        );
  }

  private clause(): FilterNode {
    const token = this.peek();
    if (!token) throw this.atEnd("a condition is missing here");
    if (token.kind === "open") return this.parenthesis(token);
    if (token.kind === "text") return this.nameContains(token);
    if (token.kind !== "name" || (isKeyword(token.value) && this.text[token.start] !== "`")) {
      throw this.problem(`a condition cannot begin with ${this.shown(token)}; begin with a column's name`, token);
    }
    return this.comparison(token);
  }

  private parenthesis(open: Token): FilterNode {
    this.at += 1;
    const inside = this.anyOf();
    if (this.peek()?.kind !== "close") throw this.problem("this parenthesis is not closed", open);
    this.at += 1;
    return inside.kind === "group" ? inside : group("and", [inside]);
  }

  /** A text by itself looks for names. */
  private nameContains(token: Token): FieldNode {
    this.at += 1;
    this.requireClosed(token);
    const column = this.catalogue.find("name");
    if (!column) throw this.problem("a text alone cannot be searched here; write column ~ text", token);
    return fieldOf(column, "contains", token.value);
  }

  private comparison(name: Token): FilterNode {
    this.at += 1;
    this.requireClosed(name);
    const next = this.peek();
    const isCompared = next?.kind === "operator" || this.isWord("is") || this.isWord("in");
    if (!isCompared) return this.bareWord(name, next);
    const column = this.column(name);
    if (this.isWord("is")) return this.emptiness(column);
    if (this.isWord("in")) return this.membership(column);
    const operator = this.operator(column);
    return fieldOf(column, operator, this.value(column));
  }

  /** A word by itself looks for names too, unless it is the beginning of a column's name that is being typed. */
  private bareWord(name: Token, next: Token | undefined): FieldNode {
    const typed = name.value.toLowerCase();
    const isBegun =
      this.catalogue.find(name.value) !== undefined ||
      this.catalogue.columns.some((column) => column.name.toLowerCase().startsWith(typed));
    if (isBegun) {
      const where = next ?? { ...name, start: name.end, end: name.end };
      throw this.problem(`expected an operator after ${name.value}: == != < <= > >= ~ !~ is in`, where);
    }
    this.at -= 1;
    return this.nameContains(name);
  }

  private column(token: Token): Column {
    const found = this.catalogue.find(token.value);
    if (found) return found;
    const near = nearest(token.value, this.catalogue);
    const hint = near === null ? "; the column picker lists all" : `; did you mean ${near}?`;
    throw this.problem(`unknown column ${token.value}${hint}`, token);
  }

  private operator(column: Column): Operator {
    const token = this.tokens[this.at] as Token;
    this.at += 1;
    const operator = spelled(token.value, column.kind);
    if (operator !== null && OPERATORS[column.kind].includes(operator)) return operator;
    const others = OPERATORS[column.kind].map((one) => WRITTEN[one]).join(", ");
    throw this.problem(
      `${column.name} is ${KIND_WORDS[column.kind]} and cannot be compared with ${token.value}; use ${others}`,
      token,
    );
  }

  private emptiness(column: Column): FieldNode {
    const isWord = this.tokens[this.at] as Token;
    this.at += 1;
    const isNegated = this.isWord("not");
    if (isNegated) this.at += 1;
    if (!this.isWord("empty")) throw this.problem(`expected "is empty" or "is not empty"`, this.peek() ?? isWord);
    this.at += 1;
    const operator = isNegated ? "notEmpty" : "isEmpty";
    if (!OPERATORS[column.kind].includes(operator)) throw this.problem(`${column.name} is never empty`, isWord);
    return fieldOf(column, operator, null);
  }

  private membership(column: Column): FilterNode {
    const word = this.tokens[this.at] as Token;
    this.at += 1;
    if (this.peek()?.kind !== "open")
      throw this.problem("expected a list in parentheses: in (1, 2)", this.peek() ?? word);
    this.at += 1;
    const operator = spelled("==", column.kind);
    if (operator === null || !OPERATORS[column.kind].includes(operator)) {
      throw this.problem(`${column.name} is ${KIND_WORDS[column.kind]}, which "in" cannot look for`, word);
    }
    const parts = [fieldOf(column, operator, this.value(column))];
    while (this.peek()?.kind === "comma") {
      this.at += 1;
      parts.push(fieldOf(column, operator, this.value(column)));
    }
    if (this.peek()?.kind !== "close") throw this.problem("this list is not closed", word);
    this.at += 1;
    return group("or", parts);
  }

  private value(column: Column) {
    const token = this.peek();
    if (!token || token.kind === "close" || token.kind === "comma" || this.isWord("and") || this.isWord("or")) {
      throw token
        ? this.problem(`a value is missing after ${column.name}`, token)
        : this.atEnd(`a value is missing for ${column.name}`);
    }
    this.at += 1;
    this.requireClosed(token);
    const read = readValue(token, column, this.now);
    if ("problem" in read) throw this.problem(read.problem, token);
    return read.value;
  }

  private requireClosed(token: Token): void {
    if (token.isOpen) throw this.problem("the closing quote is missing", token);
  }

  private peek(): Token | undefined {
    return this.tokens[this.at];
  }

  private isWord(word: string): boolean {
    const token = this.peek();
    return token?.kind === "name" && token.value.toLowerCase() === word && this.text[token.start] !== "`";
  }

  private shown(token: Token): string {
    return this.text.slice(token.start, token.end);
  }

  private problem(message: string, token: Token): Problem {
    return new Problem({ message, start: token.start, end: token.end });
  }

  private atEnd(message: string): Problem {
    return new Problem({ message, start: this.text.length, end: this.text.length });
  }
}

const KIND_WORDS: Record<Column["kind"], string> = {
  number: "a number",
  span: "a time span",
  time: "a time",
  text: "text",
  state: "a state",
  labels: "a set of tags",
  boolean: "true or false",
  data: "user data",
};

function fieldOf(column: Column, operator: Operator, value: FieldNode["value"]): FieldNode {
  return { kind: "field", columnName: column.name, location: column.location, type: column.type, operator, value };
}

/** `a and (b and c)` needs no group inside. */
function flattened(part: FilterNode, word: Conjunction): FilterNode[] {
  return part.kind === "group" && part.conjunction === word && part.children.length > 0 ? part.children : [part];
}
