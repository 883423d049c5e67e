// A query line as tokens with their places. Anything can be read: what makes no sense becomes a token of kind "bad".

export type TokenKind = "name" | "number" | "span" | "text" | "operator" | "open" | "close" | "comma" | "bad";

export interface Token {
  kind: TokenKind;
  /** What it means: a text without its quotes and escapes. */
  value: string;
  start: number;
  end: number;
  /** A text whose closing quote is missing. */
  isOpen?: boolean;
}

const PATTERNS: readonly [TokenKind, RegExp][] = [
  ["open", /\(/y],
  ["close", /\)/y],
  ["comma", /,/y],
  ["operator", /==|!=|>=|<=|!~|=|>|<|~/y],
  ["span", /\d+(?:\.\d+)?(?:ms|s|m|h|d|w)(?![\w.])/y],
  ["number", /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.:-])/y],
  ["name", /[A-Za-z_$][\w.$/:@%+-]*|\d[\w.:+-]*/y],
];

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const space = /\s+/y;
    space.lastIndex = at;
    if (space.test(text)) {
      at = space.lastIndex;
      continue;
    }
    const token = quoted(text, at) ?? matched(text, at);
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

/** A text as the language writes it. */
export function quote(text: string): string {
  return `"${text.replace(/["\\]/g, (mark) => `\\${mark}`)}"`;
}

/** A column's name as the language writes it: in backquotes where it would not be one word. */
export function writtenName(name: string): string {
  const [only, ...others] = tokenize(name);
  const isWord = only?.kind === "name" && others.length === 0 && !isKeyword(name) && /^[A-Za-z_$]/.test(name);
  return isWord ? name : `\`${name.replace(/[`\\]/g, (mark) => `\\${mark}`)}\``;
}

export function isKeyword(word: string): boolean {
  return ["and", "or", "is", "in", "not", "empty"].includes(word.toLowerCase());
}

function quoted(text: string, at: number): Token | null {
  const mark = text[at];
  if (mark !== '"' && mark !== "'" && mark !== "`") return null;
  let value = "";
  let i = at + 1;
  while (i < text.length && text[i] !== mark) {
    if (text[i] === "\\" && i + 1 < text.length) i += 1;
    value += text[i];
    i += 1;
  }
  const isOpen = i >= text.length;
  const token: Token = { kind: mark === "`" ? "name" : "text", value, start: at, end: Math.min(text.length, i + 1) };
  return isOpen ? { ...token, isOpen } : token;
}

function matched(text: string, at: number): Token {
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) return { kind, value: found[0], start: at, end: pattern.lastIndex };
  }
  return { kind: "bad", value: text[at] ?? "", start: at, end: at + 1 };
}
