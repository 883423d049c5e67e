// A tick box; a dash when only some of many are chosen.
import type { ReactNode } from "react";
import css from "./field.module.css";

export interface CheckboxProps {
  isSelected: boolean;
  onChange: (isSelected: boolean) => void;
  isIndeterminate?: boolean | undefined;
  isDisabled?: boolean | undefined;
  children?: ReactNode;
  "aria-label"?: string | undefined;
}

export function Checkbox({ isSelected, onChange, isIndeterminate, isDisabled, children, ...aria }: CheckboxProps) {
  return (
    <label className={css["choice"]}>
      <input
        type="checkbox"
        checked={isSelected}
        disabled={isDisabled}
        ref={(input) => {
          if (input) input.indeterminate = isIndeterminate ?? false;
        }}
        onChange={(event) => onChange(event.target.checked)}
        {...aria}
      />
      {children}
    </label>
  );
}
