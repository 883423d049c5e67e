// One of a few choices. The browser's own select: right on phones, with screen readers and in forced colours.
import { useId } from "react";
import css from "./field.module.css";

export interface Option {
  id: string;
  label: string;
  isDisabled?: boolean | undefined;
}

export interface SelectProps {
  label: string;
  value: string;
  options: readonly Option[];
  onChange: (id: string) => void;
  hidesLabel?: boolean | undefined;
  isDisabled?: boolean | undefined;
}

export function Select({ label, value, options, onChange, hidesLabel, isDisabled }: SelectProps) {
  const id = useId();
  return (
    <div className={css["field"]}>
      <label htmlFor={id} className={hidesLabel ? "visually-hidden" : css["label"]}>
        {label}
      </label>
      <select
        id={id}
        className={css["input"]}
        value={value}
        disabled={isDisabled}
        onChange={(event) => onChange(event.target.value)}
      >
        {options.map((option) => (
          <option key={option.id} value={option.id} disabled={option.isDisabled}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
}
