// The brushes as form fields, for the keyboard and for exact numbers.
import { useState } from "react";
import { Button } from "../ui/Button";
import { Checkbox } from "../ui/Checkbox";
import { TextField } from "../ui/TextField";
import type { AxisScale } from "./axis";
import { withBrush } from "./parallel";
import type { Brushes, VizAxis } from "./types";
import styles from "./viz.module.css";

interface BrushInputsProps {
  axes: readonly VizAxis[];
  scales: readonly AxisScale[];
  brushes: Brushes;
  onBrush: (brushes: Brushes) => void;
}

export function BrushInputs({ axes, scales, brushes, onBrush }: BrushInputsProps) {
  const count = Object.keys(brushes).length;
  return (
    <details className={styles.brushes}>
      <summary>Brushes by number{count > 0 ? ` (${count} set)` : ""}</summary>
      <div className={styles.brushForm}>
        {axes.map((axis, i) => {
          const scale = scales[i];
          if (scale === undefined) return null;
          const set = (brush: Brushes[string] | null) => onBrush(withBrush(brushes, axis.key, brush));
          return scale.kind === "category" ? (
            <Choices key={axis.key} axis={axis} values={scale.values} brush={brushes[axis.key]} onSet={set} />
          ) : (
            <FromTo key={axis.key} axis={axis} scale={scale.scale} brush={brushes[axis.key]} onSet={set} />
          );
        })}
      </div>
      <Button isDisabled={count === 0} onPress={() => onBrush({})}>
        Clear all brushes
      </Button>
    </details>
  );
}

interface PartProps {
  axis: VizAxis;
  brush: Brushes[string] | undefined;
  onSet: (brush: Brushes[string] | null) => void;
}

function FromTo({ axis, scale, brush, onSet }: PartProps & { scale: { lo: number; hi: number } }) {
  const given = brush === undefined ? "" : brush.join(" ");
  const [seen, setSeen] = useState(given);
  const [from, setFrom] = useState(brush === undefined ? "" : String(brush[0]));
  const [to, setTo] = useState(brush === undefined ? "" : String(brush[1]));
  if (given !== seen) {
    setSeen(given);
    setFrom(brush === undefined ? "" : String(brush[0]));
    setTo(brush === undefined ? "" : String(brush[1]));
  }
  const apply = () => {
    if (from.trim() === "" && to.trim() === "") {
      if (brush !== undefined) onSet(null);
      return;
    }
    const lo = from.trim() === "" ? scale.lo : Number(from);
    const hi = to.trim() === "" ? scale.hi : Number(to);
    if (lo <= hi) onSet([lo, hi]);
  };
  return (
    <fieldset
      className={styles.brushField}
      onBlur={(event) => event.currentTarget.contains(event.relatedTarget) || apply()}
    >
      <legend>{axis.label}</legend>
      <TextField
        label="from"
        value={from}
        onChange={setFrom}
        onSubmit={apply}
        placeholder={String(Number(scale.lo.toPrecision(4)))}
      />
      <TextField
        label="to"
        value={to}
        onChange={setTo}
        onSubmit={apply}
        placeholder={String(Number(scale.hi.toPrecision(4)))}
      />
    </fieldset>
  );
}

function Choices({ axis, values, brush, onSet }: PartProps & { values: readonly string[] }) {
  const chosen = brush === undefined ? values : brush.map(String);
  const toggle = (value: string, isIn: boolean) => {
    const next = values.filter((one) => (one === value ? isIn : chosen.includes(one)));
    onSet(next.length === values.length ? null : next);
  };
  return (
    <fieldset className={styles.brushField}>
      <legend>{axis.label}</legend>
      {values.map((value) => (
        <Checkbox key={value} isSelected={chosen.includes(value)} onChange={(isIn) => toggle(value, isIn)}>
          {value}
        </Checkbox>
      ))}
    </fieldset>
  );
}
