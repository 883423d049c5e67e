// The fields of a form that starts a task, each with what is wrong with it.
import { useApi } from "../../api/useApi";
import { PoolSelect } from "../../detail/PoolSelect";
import type { FormKind } from "../../task/kinds";
import { Select } from "../../ui/Select";
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

type TextName = Exclude<Field, "workspaceId" | "pool">;
type TextOptions = Pick<Parameters<typeof TextField>[0], "placeholder" | "description" | "rows">;

function WorkspaceSelect({ value, onChange }: { value: number; onChange: (id: number) => void }) {
  const workspaces = useApi("listWorkspaces", { query: { archived: false, limit: 1000 } }, { staleTime: 60_000 });
  const options = (workspaces.data?.workspaces ?? []).map((one) => ({ id: String(one.id), label: one.name }));
  return (
    <Select
      label="Workspace"
      value={String(value)}
      options={options.length > 0 ? options : [{ id: String(value), label: String(value) }]}
      onChange={(id) => onChange(Number(id))}
    />
  );
}
