// One trigger of a form: its kind, and what that kind needs.
import { X } from "lucide-react";
import { useEffect, useRef } from "react";
import { IconButton } from "../../ui/Button";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { KINDS, OPERATORS, type Refusal, STATES, type TriggerForm, wordsAt } from "./form";
import css from "./webhooks.module.css";

export interface TriggerFieldsProps {
  trigger: TriggerForm;
  /** Counted from 1. */
  number: number;
  onChange: (trigger: TriggerForm) => void;
  onRemove?: (() => void) | undefined;
  /** Its field is that of the trigger: `regex`; empty for the trigger as a whole. */
  refusal: Refusal | null;
  /** The keyboard goes there each time that this is another object. */
  focus: object | null;
}

type FieldProps = Pick<TriggerFieldsProps, "trigger" | "refusal"> & { put: (next: Partial<TriggerForm>) => void };

const FIELDS: Record<TriggerForm["kind"], (props: FieldProps) => React.ReactNode> = {
  state: StateField,
  log: LogField,
  metric: MetricFields,
  silence: SilenceField,
  alert: () => (
    <p className={css["hint"]}>
      With a title, a description and a level. The experiment's configuration names the webhook.
    </p>
  ),
};

/** What stands beside an input; the rest is said below. */
const PLACED: Record<TriggerForm["kind"], readonly string[]> = {
  state: [],
  log: ["regex"],
  metric: ["metric", "group", "operator", "value"],
  silence: ["no_report_for"],
  alert: [],
};

export function TriggerFields({ trigger, number, onChange, onRemove, refusal, focus }: TriggerFieldsProps) {
  const Fields = FIELDS[trigger.kind];
  const set = useFirstFocus(focus);
  return (
    <fieldset ref={set} className={css["trigger"]}>
      <legend className="visually-hidden">Trigger {number}</legend>
      <div className={css["head"]}>
        <Select
          label={`When (${number})`}
          value={trigger.kind}
          options={KINDS}
          onChange={(id) => onChange({ ...trigger, kind: KINDS.find((one) => one.id === id)?.id ?? "state" })}
        />
        {onRemove && (
          <IconButton label={`Remove trigger ${number}`} onPress={onRemove}>
            <X size={14} aria-hidden="true" />
          </IconButton>
        )}
      </div>
      <Fields trigger={trigger} refusal={refusal} put={(next) => onChange({ ...trigger, ...next })} />
      {refusal && !PLACED[trigger.kind].includes(refusal.field) && (
        <p className={css["refused"]} role="alert">
          ✕ {refusal.words}
        </p>
      )}
    </fieldset>
  );
}

function StateField({ trigger, put }: FieldProps) {
  const names: string[] = [...new Set([...STATES, trigger.state])];
  const options = names.map((id) => ({ id, label: id }));
  return <Select label="State" value={trigger.state} options={options} onChange={(state) => put({ state })} />;
}

function LogField({ trigger, refusal, put }: FieldProps) {
  return (
    <TextField
      label="Pattern"
      value={trigger.regex}
      onChange={(regex) => put({ regex })}
      placeholder="CUDA out of memory"
      description="RE2, found anywhere in a line. Called for the first such line of each task."
      error={wordsAt(refusal, "regex")}
      isRequired
    />
  );
}

function MetricFields({ trigger, refusal, put }: FieldProps) {
  return (
    <>
      <div className={css["pair"]}>
        <TextField
          label="Metric"
          value={trigger.metric}
          onChange={(metric) => put({ metric })}
          error={wordsAt(refusal, "metric")}
          isRequired
        />
        <TextField
          label="Group"
          value={trigger.group}
          onChange={(group) => put({ group })}
          error={wordsAt(refusal, "group")}
          isRequired
        />
      </div>
      <div className={css["pair"]}>
        <Select
          label="Is"
          value={trigger.operator}
          options={OPERATORS.map((id) => ({ id, label: id }))}
          onChange={(operator) => put({ operator })}
        />
        <TextField
          label="Limit"
          value={trigger.value}
          onChange={(value) => put({ value })}
          placeholder="0.1"
          error={wordsAt(refusal, "value") ?? wordsAt(refusal, "operator")}
          isRequired
        />
      </div>
      <p className={css["hint"]}>Groups are validation, training, and those of your own. Called once for each trial.</p>
    </>
  );
}

function SilenceField({ trigger, refusal, put }: FieldProps) {
  return (
    <TextField
      label="Minutes without a metric"
      value={trigger.silence}
      onChange={(silence) => put({ silence })}
      description="Or with a unit: 90s, 2h. Time in the queue and in pauses does not count. Called once for each trial."
      error={wordsAt(refusal, "no_report_for")}
      isRequired
    />
  );
}

/** A trigger that was just added takes the keyboard. */
function useFirstFocus(focus: object | null) {
  const set = useRef<HTMLFieldSetElement>(null);
  useEffect(() => {
    if (focus) set.current?.querySelector("select")?.focus();
  }, [focus]);
  return set;
}
