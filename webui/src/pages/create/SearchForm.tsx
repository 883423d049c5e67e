// How trials are chosen and how long each trains.
import { isMultiTrial } from "../../detail/config";
import { isRecord } from "../../detail/plain";
import { SEARCHERS } from "../../searchers";
import { Card } from "../../ui/Card";
import { Select } from "../../ui/Select";
import { Switch } from "../../ui/Switch";
import { TextField } from "../../ui/TextField";
import css from "./create.module.css";
import { METHODS, methodEdits } from "./start";
import { NumberField } from "./ValueField";
import { type Edit, type Plain, valueAt } from "./values";

export interface SearchFormProps {
  object: Plain;
  onEdit: (edits: Edit[]) => void;
  /** A continued experiment keeps its method. */
  keepsMethod?: boolean | undefined;
}

export function SearchForm({ object, onEdit, keepsMethod }: SearchFormProps) {
  const found = valueAt(object, ["searcher"]);
  const searcher = isRecord(found) ? found : {};
  const method = typeof searcher["name"] === "string" ? searcher["name"] : "";
  const keys = SEARCHERS[method]?.keys ?? Object.keys(searcher);
  const set = (key: string) => (value: unknown) => onEdit([{ path: ["searcher", key], value }]);
  return (
    <Card title={isMultiTrial(method) ? "Search" : "Training"}>
      {!keepsMethod && (
        <Select
          label="Method"
          value={method}
          options={methods(method)}
          onChange={(name) => onEdit(methodEdits(object, name))}
        />
      )}
      <div className={css["fields"]}>
        <TextField label="Metric" value={String(searcher["metric"] ?? "")} onChange={set("metric")} />
        {keys.includes("max_trials") && (
          <NumberField label="Trials at most" isWhole value={searcher["max_trials"]} onChange={set("max_trials")} />
        )}
        {keys.includes("max_concurrent_trials") && (
          <NumberField
            label="Trials at once"
            isWhole
            placeholder="16"
            value={searcher["max_concurrent_trials"]}
            onChange={set("max_concurrent_trials")}
          />
        )}
        <Length searcher={searcher} method={method} onEdit={onEdit} />
      </div>
      <Switch isSelected={searcher["smaller_is_better"] !== false} onChange={set("smaller_is_better")}>
        Smaller is better
      </Switch>
    </Card>
  );
}

function methods(now: string) {
  const known = METHODS.map(([id, { label }]) => ({ id, label }));
  return known.some(({ id }) => id === now) ? known : [{ id: now, label: now === "" ? "not chosen" : now }, ...known];
}

const UNITS = [
  { id: "", label: "as the code counts" },
  { id: "batches", label: "batches" },
  { id: "epochs", label: "epochs" },
  { id: "records", label: "records" },
];

function Length({ searcher, method, onEdit }: { searcher: Plain; method: string; onEdit: (edits: Edit[]) => void }) {
  const length = searcher["max_length"];
  const hasTime = searcher["time_metric"] !== undefined || searcher["max_time"] !== undefined;
  if (length === undefined && (hasTime || SEARCHERS[method]?.needsLength))
    return <Time searcher={searcher} onEdit={onEdit} />;
  if (length === undefined) return null;
  const [unit, amount] = isRecord(length) ? (Object.entries(length)[0] ?? ["", undefined]) : ["", length];
  const set = (nextUnit: string, next: unknown) =>
    onEdit([
      { path: ["searcher", "max_length"], value: next === undefined || nextUnit === "" ? next : { [nextUnit]: next } },
    ]);
  return (
    <>
      <NumberField label="Training length" isWhole value={amount} onChange={(next) => set(unit, next)} />
      <Select label="Counted in" value={unit} options={UNITS} onChange={(next) => set(next, amount)} />
    </>
  );
}

/** Later generations: the code counts something itself, and the search stops by it. */
function Time({ searcher, onEdit }: { searcher: Plain; onEdit: (edits: Edit[]) => void }) {
  const name = searcher["time_metric"];
  return (
    <>
      <NumberField
        label="Training length"
        isWhole
        value={searcher["max_time"]}
        onChange={(value) => onEdit([{ path: ["searcher", "max_time"], value }])}
      />
      <TextField
        label="Metric that counts it"
        placeholder="batches"
        value={typeof name === "string" ? name : ""}
        onChange={(value) => onEdit([{ path: ["searcher", "time_metric"], value: value === "" ? undefined : value }])}
      />
    </>
  );
}
