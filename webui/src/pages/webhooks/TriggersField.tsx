// The triggers of a new webhook: one or several, each with the fields of its kind.
import { Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { MOST_TRIGGERS, type Refusal, type TriggerForm, triggerForm } from "./form";
import { TriggerFields } from "./TriggerFields";
import css from "./webhooks.module.css";

export interface TriggersFieldProps {
  triggers: readonly TriggerForm[];
  onChange: (triggers: readonly TriggerForm[]) => void;
  refusal: Refusal | null;
}

export function TriggersField({ triggers, onChange, refusal }: TriggersFieldProps) {
  const [focus, setFocus] = useState<{ key: number } | null>(null);
  const add = () => {
    const key = Math.max(...triggers.map((one) => one.key)) + 1;
    setFocus({ key });
    onChange([...triggers, triggerForm(key)]);
  };
  const put = (next: TriggerForm) => onChange(triggers.map((one) => (one.key === next.key ? next : one)));
  const drop = ({ key }: TriggerForm) => {
    const rest = triggers.filter((one) => one.key !== key);
    // the button that had the keyboard is gone
    setFocus({ key: rest.findLast((one) => one.key < key)?.key ?? rest[0]?.key ?? 0 });
    onChange(rest);
  };
  return (
    <Card title="Called when">
      {triggers.map((trigger, index) => (
        <TriggerFields
          key={trigger.key}
          trigger={trigger}
          number={index + 1}
          onChange={put}
          onRemove={triggers.length > 1 ? () => drop(trigger) : undefined}
          refusal={within(refusal, `triggers[${index}]`)}
          focus={trigger.key === focus?.key ? focus : null}
        />
      ))}
      <div className={css["row"]}>
        <Button
          onPress={add}
          isDisabled={triggers.length >= MOST_TRIGGERS}
          icon={<Plus size={14} aria-hidden="true" />}
        >
          Add a trigger
        </Button>
        {triggers.length >= MOST_TRIGGERS && <span className={css["hint"]}>At most {MOST_TRIGGERS} of a webhook.</span>}
      </div>
    </Card>
  );
}

/** What is said of one trigger, with the rest of the field's path. */
function within(refusal: Refusal | null, place: string): Refusal | null {
  if (!refusal?.field.startsWith(place)) return null;
  return { ...refusal, field: refusal.field.slice(place.length + 1) };
}
