// A line of text that becomes a field when it is to be changed: Enter or leaving it saves, Escape does not.

import { Pencil } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../ui/Button";
import { TextField } from "../ui/TextField";
import css from "./detail.module.css";

export interface EditableTextProps {
  label: string;
  value: string;
  placeholder: string;
  onSave: (value: string) => void;
}

export function EditableText({ label, value, placeholder, onSave }: EditableTextProps) {
  const [draft, setDraft] = useState<string | null>(null);
  if (draft === null) {
    return (
      <span className={css["editable"]}>
        <span className={value === "" ? css["muted"] : undefined}>{value === "" ? placeholder : value}</span>
        <IconButton label={`Edit ${label.toLowerCase()}`} onPress={() => setDraft(value)}>
          <Pencil size={14} aria-hidden="true" />
        </IconButton>
      </span>
    );
  }
  const finish = (next: string | null): void => {
    setDraft(null);
    if (next !== null && next !== value) onSave(next);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hears the field inside lose the focus, takes no input itself
    <span className={css["editable"]} onBlur={() => finish(draft)}>
      <TextField
        label={label}
        hidesLabel
        autoFocus
        value={draft}
        placeholder={placeholder}
        onChange={setDraft}
        onSubmit={() => finish(draft)}
        onKey={(event) => event.key === "Escape" && finish(null)}
      />
    </span>
  );
}
