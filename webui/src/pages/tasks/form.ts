// What a form that starts a task holds, and the configuration it makes. Pure.
import { type FormKind, hasNoSlots } from "../../task/kinds";
import { idRanges } from "../../url/codecs";

export interface TaskForm {
  description: string;
  /** Of a command: a line for `sh -c`. */
  program: string;
  workspaceId: number;
  /** Its name; empty: none. */
  template: string;
  /** Empty: the default pool. */
  pool: string;
  /** As typed; empty: the default of the master. */
  slots: string;
  /** NAME=VALUE, one per line. */
  variables: string;
  /** As in a requirements.txt, one per line. */
  requirements: string;
  idleTimeout: string;
  /** Of a TensorBoard: `1,4-7`. */
  experiments: string;
  trials: string;
}

export type Field = keyof TaskForm;
export type Problems = Partial<Record<Field | "other", string[]>>;
export type Plain = Record<string, unknown>;

export const EMPTY: TaskForm = {
  description: "",
  program: "",
  workspaceId: 1,
  template: "",
  pool: "",
  slots: "",
  variables: "",
  requirements: "",
  idleTimeout: "",
  experiments: "",
  trials: "",
};

/** The fields that a form of this kind has. */
export function fieldsOf(kind: FormKind): ReadonlySet<Field> {
  const fields: Field[] = ["description", "workspaceId", "pool", "variables"];
  if (kind === "command") fields.push("program");
  if (kind === "tensorboard") fields.push("experiments", "trials");
  // a TensorBoard has its own environment and no slots
  if (!hasNoSlots(kind)) fields.push("slots", "requirements", "template");
  if (kind !== "command") fields.push("idleTimeout");
  return new Set(fields);
}

/** What only the form can tell; the master checks the rest. */
export function formProblems(kind: FormKind, form: TaskForm): Problems {
  const problems: Problems = {};
  if (fieldsOf(kind).has("slots") && !/^\d*$/.test(form.slots.trim())) problems.slots = ["Type a whole number"];
  for (const field of ["experiments", "trials"] as const) {
    if (idsOf(form[field]) === null) problems[field] = ["Type numbers such as 3, 7-9"];
  }
  const odd = linesOf(form.variables).find((line) => !/^[^=\s]+(=|$)/.test(line));
  if (odd !== undefined) problems.variables = [`${odd} has no name; write NAME=VALUE`];
  return problems;
}

/** Nothing has been filled in yet, so that nothing is wrong with it either. */
export function isUnstarted(kind: FormKind, form: TaskForm): boolean {
  if (kind === "command") return form.program.trim() === "";
  return kind === "tensorboard" && form.experiments.trim() === "" && form.trials.trim() === "";
}

export function configOf(kind: FormKind, form: TaskForm): Plain {
  const has = fieldsOf(kind);
  const variables = linesOf(form.variables);
  const requirements = has.has("requirements") ? linesOf(form.requirements) : [];
  return without({
    description: form.description.trim() || undefined,
    entrypoint: has.has("program") && form.program.trim() !== "" ? [form.program.trim()] : undefined,
    resources: without({
      slots: has.has("slots") && form.slots.trim() !== "" ? Number(form.slots) : undefined,
      resource_pool: form.pool || undefined,
    }),
    environment: without({
      environment_variables: variables.length > 0 ? variables : undefined,
      python: requirements.length > 0 ? { requirements } : undefined,
    }),
    idle_timeout: has.has("idleTimeout") ? form.idleTimeout.trim() || undefined : undefined,
  });
}

/** The name of the template; null where there is none. */
export function templateOf(kind: FormKind, form: TaskForm): string | null {
  return fieldsOf(kind).has("template") && form.template !== "" ? form.template : null;
}

/** Ids of a text such as `3, 7-9`; null where it is no such text. */
export function idsOf(text: string): number[] | null {
  return (
    idRanges.parse(
      text
        .replaceAll(/\s*,\s*/g, ",")
        .trim()
        .replace(/,$/, ""),
    ) ?? null
  );
}

export function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

const PLACES: readonly (readonly [string, Field])[] = [
  ["template", "template"],
  ["description", "description"],
  ["entrypoint", "program"],
  ["resources.slots", "slots"],
  ["resources.resource_pool", "pool"],
  ["environment.environment_variables", "variables"],
  ["environment.python", "requirements"],
  ["idle_timeout", "idleTimeout"],
];

/** The master's problems, each at its field where the form has it. */
export function problemsByField(kind: FormKind, problems: readonly { path: string; message: string }[]): Problems {
  const has = fieldsOf(kind);
  const byField: Problems = {};
  for (const { path, message } of problems) {
    const field = PLACES.find(
      ([place]) => path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`),
    );
    const key = field && has.has(field[1]) ? field[1] : "other";
    byField[key] = [...(byField[key] ?? []), key === "other" && path !== "" ? `${path}: ${message}` : message];
  }
  return byField;
}

/** Without what is undefined or has nothing in it. */
function without(values: Plain): Plain {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([, value]) =>
        value !== undefined && !(typeof value === "object" && value !== null && Object.keys(value).length === 0),
    ),
  );
}
