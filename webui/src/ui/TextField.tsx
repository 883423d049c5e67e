// One line or several lines of text with a label, a hint and an error that screen readers hear.
import { type ReactNode, type Ref, useId } from "react";
import css from "./field.module.css";

export interface TextFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  type?: "text" | "password" | "number" | "datetime-local" | "date" | "email" | "url" | undefined;
  name?: string | undefined;
  autoComplete?: string | undefined;
  placeholder?: string | undefined;
  description?: ReactNode;
  error?: ReactNode;
  isRequired?: boolean | undefined;
  isDisabled?: boolean | undefined;
  autoFocus?: boolean | undefined;
  /** The label is only read by screen readers. */
  hidesLabel?: boolean | undefined;
  /** More than one line when given. */
  rows?: number | undefined;
  onSubmit?: (() => void) | undefined;
  onKey?: ((event: React.KeyboardEvent<HTMLElement>) => void) | undefined;
  inputRef?: Ref<HTMLInputElement> | undefined;
}

export function TextField(props: TextFieldProps) {
  const id = useId();
  const { label, description, error, hidesLabel, rows } = props;
  return (
    <div className={css["field"]}>
      <label className={hidesLabel ? "visually-hidden" : css["label"]} htmlFor={id}>
        {label}
      </label>
      {rows === undefined ? <Line id={id} {...props} /> : <Area id={id} {...props} />}
      {description && (
        <div id={`${id}-hint`} className={css["hint"]}>
          {description}
        </div>
      )}
      {error && (
        <div id={`${id}-error`} className={css["error"]} role="alert">
          <span aria-hidden="true">✕ </span>
          {error}
        </div>
      )}
    </div>
  );
}

function Line({ id, onSubmit, inputRef, type = "text", ...props }: TextFieldProps & { id: string }) {
  return (
    <input
      {...shared(id, props)}
      ref={inputRef}
      type={type}
      name={props.name}
      autoComplete={props.autoComplete ?? "off"}
      onChange={(event) => props.onChange(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && onSubmit) onSubmit();
        props.onKey?.(event);
      }}
    />
  );
}

function Area({ id, ...props }: TextFieldProps & { id: string }) {
  return <textarea {...shared(id, props)} rows={props.rows} onChange={(event) => props.onChange(event.target.value)} />;
}

function shared(id: string, props: TextFieldProps) {
  const described = [props.description && `${id}-hint`, props.error && `${id}-error`].filter(Boolean).join(" ");
  return {
    id,
    className: css["input"],
    value: props.value,
    placeholder: props.placeholder,
    required: props.isRequired,
    disabled: props.isDisabled,
    autoFocus: props.autoFocus,
    "aria-invalid": props.error ? true : undefined,
    "aria-describedby": described || undefined,
  };
}
