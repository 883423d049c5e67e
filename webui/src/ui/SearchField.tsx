// A field to find things: magnifier, Escape clears, Enter submits. Give it data-query and `/` focuses it.
import { Search } from "lucide-react";
import { type Ref, useId } from "react";
import css from "./field.module.css";

export interface SearchFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  onSubmit?: ((value: string) => void) | undefined;
  placeholder?: string | undefined;
  /** The label is above the field instead of being its placeholder. */
  showsLabel?: boolean | undefined;
  inputRef?: Ref<HTMLInputElement> | undefined;
}

export function SearchField({ label, value, onChange, onSubmit, placeholder, showsLabel, inputRef }: SearchFieldProps) {
  const id = useId();
  return (
    <div className={css["field"]}>
      <label htmlFor={id} className={showsLabel ? css["label"] : "visually-hidden"}>
        {label}
      </label>
      <div className={css["search"]}>
        <Search size={14} aria-hidden="true" />
        <input
          id={id}
          ref={inputRef}
          className={css["input"]}
          type="search"
          data-query=""
          value={value}
          placeholder={placeholder ?? (showsLabel ? undefined : label)}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") onSubmit?.(value);
            if (event.key === "Escape" && value !== "") {
              event.stopPropagation();
              onChange("");
            }
          }}
        />
      </div>
    </div>
  );
}
