// A number between two bounds, with its value in words beside the label.
import { useId } from "react";
import { cx } from "./cx";
import css from "./field.module.css";
import layout from "./layout.module.css";

export interface SliderProps {
  label: string;
  value: number;
  minValue: number;
  maxValue: number;
  step?: number | undefined;
  onChange: (value: number) => void;
  format?: ((value: number) => string) | undefined;
  isDisabled?: boolean | undefined;
}

export function Slider({
  label,
  value,
  minValue,
  maxValue,
  step = 1,
  onChange,
  format = String,
  isDisabled,
}: SliderProps) {
  const id = useId();
  return (
    <div className={cx(css["field"], css["slider"])}>
      <div className={layout["spread"]}>
        <label htmlFor={id} className={css["label"]}>
          {label}
        </label>
        <output htmlFor={id} className={css["label"]}>
          {format(value)}
        </output>
      </div>
      <input
        id={id}
        type="range"
        min={minValue}
        max={maxValue}
        step={step}
        value={value}
        disabled={isDisabled}
        aria-valuetext={format(value)}
        onChange={(event) => onChange(Number(event.target.value))}
      />
    </div>
  );
}
