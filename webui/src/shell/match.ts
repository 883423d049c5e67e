// Pure finding of commands: ranks labels against typed words, and reads jumps such as `e 41`.
import type { Command } from "./palette";

export interface Jump {
  label: string;
  path: string;
}

/** Every word must occur in the label or the keywords; beginnings rank before middles. */
export function rank(commands: readonly Command[], typed: string): Command[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...commands];
  return commands
    .map((command) => ({ command, score: scoreOf(command, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ command }) => command);
}

/** `e 41`, `exp41`, `t 97`, `p 3`, `w 2`, or a bare number, which may be an experiment or a trial. */
export function jumpsOf(typed: string): Jump[] {
  const match = /^\s*([a-z]*)\s*#?\s*(\d{1,12})\s*$/i.exec(typed);
  if (!match) return [];
  const [, word = "", id = ""] = match;
  const wanted = word.toLowerCase();
  return JUMPS.filter((jump) => (wanted === "" ? jump.isBare : jump.words.includes(wanted))).map((jump) => ({
    label: `${jump.noun} ${id}`,
    path: jump.path + id,
  }));
}

const JUMPS = [
  { noun: "Experiment", words: ["e", "exp", "experiment", "search"], path: "/experiments/", isBare: true },
  { noun: "Trial", words: ["t", "trial", "run", "r"], path: "/trials/", isBare: true },
  { noun: "Project", words: ["p", "project"], path: "/projects/", isBare: false },
  { noun: "Workspace", words: ["w", "workspace"], path: "/workspaces/", isBare: false },
];

function scoreOf(command: Command, words: readonly string[]): number {
  const label = command.label.toLowerCase();
  const more = (command.keywords ?? "").toLowerCase();
  let total = 0;
  for (const word of words) {
    const score = wordScore(label, more, word);
    if (score === 0) return 0;
    total += score;
  }
  return total;
}

function wordScore(label: string, more: string, word: string): number {
  if (label.startsWith(word)) return 4;
  if (label.includes(` ${word}`)) return 3;
  if (label.includes(word)) return 2;
  return more.includes(word) ? 1 : 0;
}
