// The labels of a thing, with adding and removing.
import { Plus } from "lucide-react";
import { useState } from "react";
import { IconButton } from "./Button";
import css from "./StatePill.module.css";
import { Tag } from "./Tag";
import { TextField } from "./TextField";

export interface TagsEditorProps {
  tags: readonly string[];
  onChange: (tags: string[]) => void;
  isDisabled?: boolean | undefined;
  label?: string | undefined;
}

export function TagsEditor({ tags, onChange, isDisabled, label = "Labels" }: TagsEditorProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const add = () => {
    const text = (draft ?? "").trim();
    setDraft(null);
    if (text !== "" && !tags.includes(text)) onChange([...tags, text]);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw its own frame
    <div className={css["tags"]} role="group" aria-label={label}>
      {tags.map((tag) => (
        <Tag
          key={tag}
          text={tag}
          onRemove={isDisabled ? undefined : () => onChange(tags.filter((one) => one !== tag))}
        />
      ))}
      {draft !== null && (
        <TextField
          label="New label"
          hidesLabel
          autoFocus
          value={draft}
          onChange={setDraft}
          onSubmit={add}
          onKey={(event) => event.key === "Escape" && setDraft(null)}
        />
      )}
      {!isDisabled && (
        <IconButton label="Add a label" onPress={() => (draft === null ? setDraft("") : add())}>
          <Plus size={14} aria-hidden="true" />
        </IconButton>
      )}
    </div>
  );
}
