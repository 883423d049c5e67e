// Changes the short texts of a model or a version; a refusal stays beside the first field.
import { useState } from "react";
import type { Operations } from "../../api/schema";
import { queryClient } from "../../api/useApi";
import { FormDialog } from "../../registry/FormDialog";
import { TextField } from "../../ui/TextField";
import { toast } from "../../ui/toast";

interface EditedField {
  key: string;
  label: string;
  value: string;
  /** More than one line. */
  rows?: number;
  isRequired?: boolean;
}

interface EditDialogProps {
  title: string;
  fields: readonly EditedField[];
  /** What differs from before, by the keys of the fields: what others changed meanwhile stays. */
  onSave: (changes: Record<string, string>) => Promise<unknown>;
  done: string;
  invalidate: readonly (keyof Operations)[];
  onClose: () => void;
}

export function EditDialog({ title, fields, onSave, done, invalidate, onClose }: EditDialogProps) {
  const [values, setValues] = useState(() => fields.map(({ value }) => value));
  const save = async () => {
    const changes = fields.flatMap(({ key, value }, at) => {
      const next = (values[at] ?? "").trim();
      return next === value ? [] : [[key, next] as const];
    });
    await onSave(Object.fromEntries(changes));
    await Promise.all(invalidate.map((op) => queryClient.invalidateQueries({ queryKey: [op] })));
    toast({ text: done });
    onClose();
  };
  const isReady = fields.every(({ isRequired }, at) => !isRequired || values[at]?.trim() !== "");
  return (
    <FormDialog title={title} verb="Save" isReady={isReady} onSend={save} onClose={onClose}>
      {(error) =>
        fields.map(({ key, label, rows, isRequired }, at) => (
          <TextField
            key={key}
            label={label}
            value={values[at] ?? ""}
            onChange={(typed) => setValues(values.map((value, place) => (place === at ? typed : value)))}
            rows={rows}
            isRequired={isRequired}
            autoFocus={at === 0}
            error={at === 0 ? error : null}
          />
        ))
      }
    </FormDialog>
  );
}
