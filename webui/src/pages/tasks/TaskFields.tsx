// The fields of a form that starts a task, each with what is wrong with it.
import { PoolSelect } from "../../detail/PoolSelect";
import { TemplateSelect } from "../../detail/TemplateSelect";
import { WorkspaceSelect } from "../../detail/WorkspaceSelect";
import type { FormKind } from "../../task/kinds";
import { TextField } from "../../ui/TextField";
import { type Field, fieldsOf, type Problems, type TaskForm } from "./form";
import css from "./tasks.module.css";

export interface TaskFieldsProps {
  kind: FormKind;
  form: TaskForm;
  onChange: (next: Partial<TaskForm>) => void;
  problems: Problems;
}

export function TaskFields({ kind, form, onChange, problems }: TaskFieldsProps) {
  const has = fieldsOf(kind);
  const field = (name: TextName, more: Partial<TextOptions> & { label: string }) =>
    has.has(name) && (
      <TextField
        key={name}
        value={form[name]}
        onChange={(value) => onChange({ [name]: value })}
        error={problems[name]?.join("; ")}
        {...more}
      />
    );
  return (
    <div className={css["fields"]}>
      {field("program", {
        label: "Command",
        rows: 2,
        placeholder: "python3 -c 'print(\"hello\")'",
        description: "A line for sh. It ends the task when it ends.",
      })}
      {field("experiments", {
        label: "Experiments",
        placeholder: "3, 7-9",
        description: "Ids, all of whose trials are shown.",
      })}
      {field("trials", { label: "Trials", placeholder: "12, 15", description: "Ids of single trials." })}
      {field("description", {
        label: "Description",
        placeholder: "three random words",
        description: "The name in lists.",
      })}
      <div className={css["pair"]}>
        <WorkspaceSelect value={form.workspaceId} onChange={(workspaceId) => onChange({ workspaceId })} />
        {has.has("template") && (
          <TemplateSelect value={form.template} onChange={(template) => onChange({ template })} />
        )}
        <PoolSelect value={form.pool} onChange={(pool) => onChange({ pool })} />
        {field("slots", { label: "Slots", placeholder: "1", description: "GPUs or CPU slots; 0 for none." })}
        {field("idleTimeout", {
          label: "Idle timeout",
          placeholder: "30m",
          description: "Ends it after so long without use.",
        })}
      </div>
      {field("variables", {
        label: "Environment variables",
        rows: 2,
        placeholder: "NAME=value",
        description: "One per line.",
      })}
      {field("requirements", {
        label: "Python packages",
        rows: 2,
        placeholder: "numpy==2.3.0",
        description: "As in a requirements.txt. Without any, the Python of the node is used.",
      })}
    </div>
  );
}

type TextName = Exclude<Field, "workspaceId" | "pool" | "template">;
type TextOptions = Pick<Parameters<typeof TextField>[0], "placeholder" | "description" | "rows">;
