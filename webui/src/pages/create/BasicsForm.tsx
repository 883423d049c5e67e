// Name, project, command and resources.
import { PoolSelect } from "../../detail/PoolSelect";
import { Card } from "../../ui/Card";
import { TextField } from "../../ui/TextField";
import css from "./create.module.css";
import { NumberField } from "./ValueField";
import { type Edit, type Plain, valueAt } from "./values";

export interface BasicsFormProps {
  object: Plain;
  onEdit: (edits: Edit[]) => void;
  /** What the master fills in where the text says nothing. */
  effective: Plain | null;
}

export function BasicsForm({ object, onEdit, effective }: BasicsFormProps) {
  const set = (path: string[]) => (value: unknown) => onEdit([{ path, value }]);
  const entrypoint = object["entrypoint"];
  return (
    <Card title="Basics">
      <TextField
        label="Name"
        value={text(object["name"])}
        onChange={(name) => set(["name"])(name === "" ? undefined : name)}
      />
      <TextField
        label="Entrypoint: the command of a trial"
        value={typeof entrypoint === "string" ? entrypoint : entrypoint === undefined ? "" : JSON.stringify(entrypoint)}
        isDisabled={entrypoint !== undefined && typeof entrypoint !== "string"}
        onChange={(value) => set(["entrypoint"])(value === "" ? undefined : value)}
      />
      <div className={css["fields"]}>
        <PoolSelect
          value={text(valueAt(object, ["resources", "resource_pool"]))}
          onChange={(pool) => set(["resources", "resource_pool"])(pool === "" ? undefined : pool)}
        />
        <NumberField
          label="Slots per trial"
          isWhole
          value={valueAt(object, ["resources", "slots_per_trial"])}
          placeholder={hint(effective, ["resources", "slots_per_trial"])}
          onChange={set(["resources", "slots_per_trial"])}
        />
        <NumberField
          label="Restarts after failure"
          isWhole
          value={object["max_restarts"]}
          placeholder={hint(effective, ["max_restarts"])}
          onChange={set(["max_restarts"])}
        />
      </div>
    </Card>
  );
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function hint(effective: Plain | null, path: string[]): string {
  const value = valueAt(effective, path);
  return typeof value === "number" ? String(value) : "";
}
