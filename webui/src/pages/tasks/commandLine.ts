// The `det` command that does the same as a form, or that reaches a task. Pure.
import { toYaml } from "../../detail/yaml";
import { type FormKind, kindOf, type Task } from "../../task/kinds";
import { configOf, idsOf, type Plain, type TaskForm, templateOf } from "./form";

const VERBS: Record<FormKind, string> = {
  notebook: "det notebook start",
  shell: "det shell start",
  command: "det command run",
  tensorboard: "det tensorboard start",
};
const PLAIN = /^[A-Za-z][\w-]*$/;
const WORDS = new Set(["true", "false", "null", "yes", "no", "on", "off", "y", "n"]);
const DEFAULT_WORKSPACE = 1;

/** `checkpoint`: of a notebook on a checkpoint. */
export function commandLine(kind: FormKind, form: TaskForm, workspaceName: string, checkpoint?: string): string {
  const config = configOf(kind, form);
  const { entrypoint, ...rest } = config as Plain & { entrypoint?: string[] };
  const overrides = overridesOf(rest);
  const template = templateOf(kind, form);
  const options = [
    ...(form.workspaceId === DEFAULT_WORKSPACE ? [] : ["-w", shellWord(workspaceName)]),
    ...(checkpoint === undefined ? [] : ["--checkpoint", shellWord(checkpoint)]),
    ...(template === null ? [] : ["--template", shellWord(template)]),
  ];
  const sources = kind === "tensorboard" ? sourceWords(form) : [];
  const program = (entrypoint ?? []).map(shellWord);
  const words = (config: string[]) => [VERBS[kind], ...sources, ...options, ...config, ...program].join(" ");
  if (overrides !== null) return words(overrides.flatMap((one) => ["--config", shellWord(one)]));
  return `${words(["--config-file", "/dev/stdin"])} <<'EOF'\n${toYaml(rest)}\nEOF`;
}

/** How a task is reached from a terminal; null where the page is all there is. */
export function reachCommand(task: Task): string | null {
  const kind = kindOf(task.taskType);
  return kind === "shell" ? `det shell open ${task.taskId}` : null;
}

/** `resources.slots=2`; null where a value has a comma, which would make a list of it. */
function overridesOf(config: Plain, prefix = ""): string[] | null {
  const found: string[] = [];
  for (const [key, value] of Object.entries(config)) {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      const inner = overridesOf(value as Plain, `${prefix}${key}.`);
      if (inner === null) return null;
      found.push(...inner);
    } else if (typeof value === "string" && value.includes(",")) return null;
    else found.push(`${prefix}${key}=${typeof value === "string" ? yamlWord(value) : JSON.stringify(value)}`);
  }
  return found;
}

/** A text that YAML does not take for a number or a truth value; a list is the same in JSON and YAML. */
function yamlWord(text: string): string {
  return PLAIN.test(text) && !WORDS.has(text.toLowerCase()) ? text : JSON.stringify(text);
}

function sourceWords({ experiments, trials }: TaskForm): string[] {
  const trialIds = idsOf(trials) ?? [];
  return [...(idsOf(experiments) ?? []).map(String), ...(trialIds.length > 0 ? ["-t", ...trialIds.map(String)] : [])];
}

/** Quoted for a POSIX shell where that is needed. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
