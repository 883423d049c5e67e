// On or off, at once.
import type { ReactNode } from "react";
import { cx } from "./cx";
import css from "./field.module.css";

export interface SwitchProps {
  isSelected: boolean;
  onChange: (isSelected: boolean) => void;
  isDisabled?: boolean | undefined;
  children: ReactNode;
}

export function Switch({ isSelected, onChange, isDisabled, children }: SwitchProps) {
  return (
    <label className={cx(css["choice"], css["switch"])}>
      <input
        type="checkbox"
        role="switch"
        checked={isSelected}
        aria-checked={isSelected}
        disabled={isDisabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      {children}
    </label>
  );
}
