// Which files of a folder stay behind: the rules of .detignore (gitignore syntax), as the det command has them.

/** Left behind unless .detignore asks for it. The command's list; it knows environments by their pyvenv.cfg, not by name. */
const ALWAYS = [
  "__pycache__/",
  "*.py[co]",
  "*$py.class",
  "terraform",
  "terraform_data",
  "terraform.tfstate*",
  "terraform.tfvars*",
  ".terraform*",
  ".git/",
  ".vscode/",
  ".idea/",
  ".mypy_cache/",
  "/shared_fs",
  ".hg/",
  ".svn/",
  ".ipynb_checkpoints/",
  ".pytest_cache/",
  ".ruff_cache/",
  ".tox/",
  ".nox/",
  "node_modules/",
  ".DS_Store",
  ".venv/",
  "venv/",
];

export const IGNORE_FILE = ".detignore";

/** Tells of a path (`a/b.py`, always with slashes) whether it stays behind. */
export function ignoring(text: string): (path: string) => boolean {
  const rules = [...ALWAYS, ...text.split(/\r?\n/)].map(ruleOf).filter((rule) => rule !== null);
  return (path) => {
    const parts = path.split("/");
    if (parts.at(-1) === IGNORE_FILE) return true;
    // a file below an ignored folder cannot be taken back in
    return parts.some((_, index) => {
      const isFolder = index < parts.length - 1;
      return isIgnored(rules, parts.slice(0, index + 1).join("/"), isFolder);
    });
  };
}

interface Rule {
  pattern: RegExp;
  isNegated: boolean;
  foldersOnly: boolean;
}

function isIgnored(rules: readonly Rule[], path: string, isFolder: boolean): boolean {
  const last = rules.findLast((rule) => (isFolder || !rule.foldersOnly) && rule.pattern.test(path));
  return last !== undefined && !last.isNegated;
}

function ruleOf(line: string): Rule | null {
  let glob = line.replace(/(?<!\\)\s+$/, "");
  if (glob === "" || glob.startsWith("#")) return null;
  const isNegated = glob.startsWith("!");
  if (isNegated) glob = glob.slice(1);
  const foldersOnly = glob.endsWith("/");
  if (foldersOnly) glob = glob.slice(0, -1);
  const isAnchored = glob.includes("/");
  if (glob.startsWith("/")) glob = glob.slice(1);
  if (glob === "") return null;
  return { pattern: new RegExp(`^${isAnchored ? "" : "(?:.*/)?"}${patternOf(glob)}$`), isNegated, foldersOnly };
}

function patternOf(glob: string): string {
  let pattern = "";
  for (let at = 0; at < glob.length; ) {
    const [piece, length] = pieceOf(glob, at);
    pattern += piece;
    at += length;
  }
  return pattern;
}

/** The expression of what begins at `at`, and how many letters of the glob it stands for. */
function pieceOf(glob: string, at: number): [string, number] {
  const rest = glob.slice(at);
  const isStart = at === 0 || glob[at - 1] === "/";
  if (isStart && rest.startsWith("**/")) return ["(?:.*/)?", 3];
  if (isStart && rest === "**") return [".*", 2];
  if (rest.startsWith("*")) return ["[^/]*", /^\*+/.exec(rest)?.[0].length ?? 1];
  if (rest.startsWith("?")) return ["[^/]", 1];
  const set = /^\[(!|\^)?(\]?[^\]]*)\]/.exec(rest);
  if (set) return [`[${set[1] ? "^" : ""}${(set[2] ?? "").replace(/[\\\]]/g, "\\$&")}]`, set[0].length];
  const letter = rest.startsWith("\\") && rest.length > 1 ? rest.slice(1, 2) : rest.slice(0, 1);
  return [letter.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"), rest.startsWith("\\") && rest.length > 1 ? 2 : 1];
}
