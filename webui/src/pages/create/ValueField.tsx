// A field for a value that is not text: what is typed stays as it is typed, the value follows when it can be read.
import { type ReactNode, useState } from "react";
import { TextField } from "../../ui/TextField";
import { isSame } from "./values";

/** What was typed is no value yet. */
export const NOT_YET = Symbol("not yet a value");

export interface ValueFieldProps<T> {
  label: string;
  value: T | undefined;
  parse: (text: string) => T | undefined | typeof NOT_YET;
  print: (value: T | undefined) => string;
  onChange: (value: T | undefined) => void;
  /** Said while the text is no value. */
  expects?: string | undefined;
  description?: ReactNode;
  placeholder?: string | undefined;
  hidesLabel?: boolean | undefined;
  isDisabled?: boolean | undefined;
}

export function ValueField<T>(props: ValueFieldProps<T>) {
  const { value, parse, print, onChange, expects = "a value" } = props;
  const [text, setText] = useState(() => print(value));
  const typed = parse(text);
  const isUnfinished = typed === NOT_YET;
  const change = (next: string) => {
    setText(next);
    const parsed = parse(next);
    if (parsed !== NOT_YET && !isSame(parsed, value)) onChange(parsed);
  };
  return (
    <TextField
      label={props.label}
      value={isUnfinished || isSame(typed, value) ? text : print(value)}
      onChange={change}
      error={isUnfinished ? `Type ${expects}` : undefined}
      description={props.description}
      placeholder={props.placeholder}
      hidesLabel={props.hidesLabel}
      isDisabled={props.isDisabled}
    />
  );
}

export interface NumberFieldProps extends Omit<ValueFieldProps<number>, "parse" | "print" | "value"> {
  value: unknown;
  isWhole?: boolean | undefined;
}

/** Empty takes the value out. */
export function NumberField({ value, isWhole, ...props }: NumberFieldProps) {
  const parse = (text: string) => {
    if (text.trim() === "") return undefined;
    const number = Number(text);
    return Number.isFinite(number) && (!isWhole || Number.isInteger(number)) ? number : NOT_YET;
  };
  return (
    <ValueField<number>
      {...props}
      value={typeof value === "number" ? value : undefined}
      parse={parse}
      print={(number) => (number === undefined ? "" : String(number))}
      expects={isWhole ? "a whole number" : "a number"}
    />
  );
}
