// Terminal colours of a log line as styled runs of plain text. Every other control sequence is dropped or made visible:
// what a task prints is never markup and cannot move text about.

export interface TextStyle {
  fg: number | null;
  bg: number | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  strike: boolean;
  inverse: boolean;
}

export interface Run {
  text: string;
  style: TextStyle | null;
}

const PLAIN: TextStyle = {
  fg: null,
  bg: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  strike: false,
  inverse: false,
};

const ESC = String.fromCharCode(27);
const BEL = String.fromCharCode(7);
const DEL = String.fromCharCode(127);
const control = (code: number): string => String.fromCharCode(code);
const CONTROLS = `${control(0)}-${control(8)}${control(11)}-${control(31)}${DEL}`;
const SEQUENCE = new RegExp(
  [
    `${ESC}\\[([0-9;:]*)m`,
    `${ESC}\\[[0-?]*[ -/]*[@-~]?`,
    `${ESC}\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)?`,
    `${ESC}[PX^_][^${ESC}]*(?:${ESC}\\\\)?`,
    `${ESC}[ -~]?`,
    `[${CONTROLS}]`,
  ].join("|"),
  "g",
);
const ORDINARY = new RegExp(`^[^${CONTROLS}\t\u202a-\u202e\u2066-\u2069]*$`);
const BIDI = /[\u202a-\u202e\u2066-\u2069]/g;
const TAB = 8;

/** The runs a line is shown as; one run without style for a line without colours. */
export function parseAnsi(line: string): Run[] {
  if (ORDINARY.test(line)) return [{ text: line, style: null }];
  const runs: Run[] = [];
  const text = lastOverprint(line);
  let style: TextStyle = PLAIN;
  let column = 0;
  let from = 0;
  const push = (part: string): void => {
    if (part === "") return;
    const shown = expandTabs(part.replace(BIDI, "\ufffd"), column);
    column += shown.length;
    runs.push({ text: shown, style: style === PLAIN ? null : style });
  };
  for (const match of text.matchAll(SEQUENCE)) {
    push(text.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[1] !== undefined) style = restyle(style, match[1]);
  }
  push(text.slice(from));
  return runs.length > 0 ? runs : [{ text: "", style: null }];
}

/** The line without any control sequence. */
export function plainText(line: string): string {
  return ORDINARY.test(line)
    ? line
    : parseAnsi(line)
        .map((run) => run.text)
        .join("");
}

/** A progress bar writes over itself with carriage returns: what a terminal would show in the end. */
function lastOverprint(line: string): string {
  if (!line.includes("\r")) return line;
  const parts = line.split("\r").filter((part) => part.replace(SEQUENCE, "").trim() !== "");
  return parts.at(-1) ?? "";
}

function expandTabs(text: string, column: number): string {
  if (!text.includes("\t")) return text;
  let out = "";
  for (const char of text) {
    out += char === "\t" ? " ".repeat(TAB - ((column + out.length) % TAB)) : char;
  }
  return out;
}

function restyle(style: TextStyle, codes: string): TextStyle {
  const numbers = codes.split(/[;:]/).map((code) => (code === "" ? 0 : Number(code)));
  let next: TextStyle = style;
  for (let i = 0; i < numbers.length; i++) {
    const code = numbers[i] ?? 0;
    if (code === 38 || code === 48) {
      const { colour, used } = extended(numbers.slice(i + 1));
      next = code === 38 ? { ...next, fg: colour } : { ...next, bg: colour };
      i += used;
    } else {
      next = apply(next, code);
    }
  }
  return next;
}

const FLAGS: Record<number, Partial<TextStyle>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
  39: { fg: null },
  49: { bg: null },
};

function apply(style: TextStyle, code: number): TextStyle {
  if (code === 0) return PLAIN;
  const flags = FLAGS[code];
  if (flags !== undefined) return { ...style, ...flags };
  if (code >= 30 && code <= 37) return { ...style, fg: code - 30 };
  if (code >= 90 && code <= 97) return { ...style, fg: code - 90 + 8 };
  if (code >= 40 && code <= 47) return { ...style, bg: code - 40 };
  if (code >= 100 && code <= 107) return { ...style, bg: code - 100 + 8 };
  return style;
}

/** `5;n` and `2;r;g;b`, brought to the sixteen colours whose contrast both themes vouch for. */
function extended(rest: number[]): { colour: number | null; used: number } {
  if (rest[0] === 5) return { colour: fromPalette(rest[1] ?? 0), used: 2 };
  if (rest[0] === 2) return { colour: nearest(rest[1] ?? 0, rest[2] ?? 0, rest[3] ?? 0), used: 4 };
  return { colour: null, used: 0 };
}

function fromPalette(index: number): number {
  if (index < 16) return Math.max(0, index);
  if (index >= 232) return nearest((index - 232) * 10 + 8, (index - 232) * 10 + 8, (index - 232) * 10 + 8);
  const cube = index - 16;
  const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function nearest(red: number, green: number, blue: number): number {
  const brightest = Math.max(red, green, blue);
  if (brightest < 48) return 0;
  const on = (part: number): number => (part > brightest * 0.6 ? 1 : 0);
  const hue = on(red) + on(green) * 2 + on(blue) * 4;
  return hue + (brightest > 192 ? 8 : 0);
}
