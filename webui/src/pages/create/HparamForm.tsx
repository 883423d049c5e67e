// The hyperparameters: each a fixed value or a range that the search draws from.
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { searcherOf } from "../../detail/config";
import { SEARCHERS } from "../../searchers";
import { Button, IconButton } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import css from "./create.module.css";
import {
  asKind,
  declaration,
  type Hparam,
  type HparamKind,
  hparamsOf,
  KINDS,
  nameOf,
  shown,
  shownList,
  typed,
  typedList,
} from "./hparams";
import { NumberField, ValueField } from "./ValueField";
import type { Edit, Plain } from "./values";

export interface HparamFormProps {
  object: Plain;
  onEdit: (edits: Edit[]) => void;
}

export function HparamForm({ object, onEdit }: HparamFormProps) {
  const rows = hparamsOf(object["hyperparameters"]);
  const isGrid = SEARCHERS[String(searcherOf(object)["name"])]?.usesCounts ?? false;
  const set = (hparam: Hparam) => onEdit([{ path: ["hyperparameters", ...hparam.path], value: declaration(hparam) }]);
  return (
    <Card title="Hyperparameters">
      {rows.length === 0 && <p className={css["muted"]}>None yet. The code reads them by name.</p>}
      <ul className={css["hparams"]}>
        {rows.map((row) => (
          <li key={nameOf(row.path)}>
            <Row
              hparam={row}
              isGrid={isGrid}
              onChange={set}
              onRemove={() => onEdit([{ path: ["hyperparameters", ...row.path], value: undefined }])}
            />
          </li>
        ))}
      </ul>
      <Add
        taken={rows.map((row) => nameOf(row.path))}
        onAdd={(name) => set({ path: name.split("."), kind: "const", value: 0 })}
      />
    </Card>
  );
}

interface RowProps {
  hparam: Hparam;
  isGrid: boolean;
  onChange: (hparam: Hparam) => void;
  onRemove: () => void;
}

function Row({ hparam, isGrid, onChange, onRemove }: RowProps) {
  const name = nameOf(hparam.path);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw its own frame
    <div role="group" aria-label={name} className={css["hparam"]}>
      <code className={css["hparamName"]}>{name}</code>
      <Select
        label={`Kind of ${name}`}
        hidesLabel
        value={hparam.kind}
        options={KINDS}
        onChange={(kind) => onChange(asKind(hparam, kind as HparamKind))}
      />
      <IconButton label={`Remove ${name}`} onPress={onRemove}>
        <X size={14} aria-hidden="true" />
      </IconButton>
      <div className={css["hparamValues"]}>
        <Values hparam={hparam} isGrid={isGrid} onChange={onChange} />
      </div>
    </div>
  );
}

function Values({ hparam, isGrid, onChange }: Omit<RowProps, "onRemove">) {
  const name = nameOf(hparam.path);
  if (hparam.kind === "const") {
    const set = (value: unknown) => onChange({ ...hparam, value });
    return (
      <ValueField<unknown>
        label={`Value of ${name}`}
        hidesLabel
        value={hparam.value}
        parse={typed}
        print={shown}
        onChange={set}
      />
    );
  }
  if (hparam.kind === "categorical") {
    const set = (vals: unknown[] | undefined) => onChange({ ...hparam, vals });
    return (
      <ValueField<unknown[]>
        label={`Values of ${name}, with commas between`}
        hidesLabel
        value={hparam.vals}
        parse={typedList}
        print={shownList}
        onChange={set}
      />
    );
  }
  return <RangeFields hparam={hparam} isGrid={isGrid} onChange={onChange} />;
}

function RangeFields({ hparam, isGrid, onChange }: Omit<RowProps, "onRemove">) {
  const isWhole = hparam.kind === "int";
  const isLog = hparam.kind === "log";
  return (
    <>
      {isLog && (
        <NumberField label="Base" value={hparam.base ?? 10} onChange={(base) => onChange({ ...hparam, base })} />
      )}
      <NumberField
        label={isLog ? "From exponent" : "From"}
        isWhole={isWhole}
        value={hparam.minval}
        onChange={(minval) => onChange({ ...hparam, minval })}
      />
      <NumberField
        label={isLog ? "To exponent" : "To"}
        isWhole={isWhole}
        value={hparam.maxval}
        onChange={(maxval) => onChange({ ...hparam, maxval })}
      />
      {(isGrid || hparam.count !== undefined) && (
        <NumberField label="Points" isWhole value={hparam.count} onChange={(count) => onChange({ ...hparam, count })} />
      )}
    </>
  );
}

function Add({ taken, onAdd }: { taken: string[]; onAdd: (name: string) => void }) {
  const [name, setName] = useState("");
  const trimmed = name.trim();
  const isTaken = taken.some((one) => one === trimmed || one.startsWith(`${trimmed}.`));
  const add = () => {
    if (trimmed === "" || isTaken) return;
    onAdd(trimmed);
    setName("");
  };
  return (
    <div className={css["add"]}>
      <TextField
        label="Name of a new hyperparameter"
        hidesLabel
        placeholder="new hyperparameter"
        value={name}
        onChange={setName}
        onSubmit={add}
        error={isTaken && trimmed !== "" ? `${trimmed} is there already` : undefined}
      />
      <Button icon={<Plus size={14} aria-hidden="true" />} isDisabled={trimmed === "" || isTaken} onPress={add}>
        Add
      </Button>
    </div>
  );
}
