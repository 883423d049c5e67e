// When a webhook is called, in words; what somebody else has written stands in elements of its own.
import { plural } from "../../ui/format";
import { type Trigger, triggerParts } from "./webhook";
import css from "./webhooks.module.css";

interface TriggerListProps {
  triggers: readonly Trigger[];
  /** Shows so many, and counts the rest. */
  most?: number | undefined;
}

export function TriggerList({ triggers, most = triggers.length }: TriggerListProps) {
  const rest = triggers.length - most;
  return (
    <ul className={css["triggers"]}>
      {triggers.slice(0, most).map((trigger) => (
        <li key={trigger.id}>
          <TriggerWords trigger={trigger} />
        </li>
      ))}
      {rest > 0 && <li>and {plural(rest, "more trigger")}</li>}
    </ul>
  );
}

function TriggerWords({ trigger }: { trigger: Trigger }) {
  return triggerParts(trigger).map((part) =>
    typeof part === "string" ? part : <code key={part.key}>{part.own}</code>,
  );
}
