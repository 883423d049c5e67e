// Zoom by numbers instead of by dragging.
import { type FormEvent, useState } from "react";
import { Button } from "../ui/Button";
import { TextField } from "../ui/TextField";
import styles from "./Chart.module.css";
import type { Scale } from "./scale";
import type { Range, XKind } from "./types";
import { fromInput, toInput } from "./zoomInput";

interface ZoomFormProps {
  x: Scale;
  xLabel: string;
  xKind: XKind;
  onZoom: (range: Range | null) => void;
  onDone: () => void;
}

export function ZoomForm({ x, xLabel, xKind, onZoom, onDone }: ZoomFormProps) {
  const [from, setFrom] = useState(() => toInput(x.lo, xKind));
  const [to, setTo] = useState(() => toInput(x.hi, xKind));
  const range = [fromInput(from, xKind), fromInput(to, xKind)] as const;
  const valid = range[1] > range[0];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!valid) return;
    onZoom(range);
    onDone();
  };
  const type = xKind === "time" ? "datetime-local" : "number";
  return (
    <form className={styles.zoom} onSubmit={submit} noValidate>
      <TextField label={`${xLabel} from`} type={type} value={from} onChange={setFrom} autoFocus />
      <TextField label="to" type={type} value={to} onChange={setTo} />
      <Button kind="primary" type="submit" isDisabled={!valid}>
        Zoom
      </Button>
      <Button onPress={onDone}>Cancel</Button>
    </form>
  );
}
