// Opens the page of a notebook or TensorBoard in a tab of its own; says why where it cannot.
import { ExternalLink } from "lucide-react";
import { useSession } from "../api/session";
import { Button } from "../ui/Button";
import { Hint } from "../ui/Tooltip";
import type { Task } from "./kinds";
import { openingOf } from "./opening";
import css from "./task.module.css";

/** A word in a list. Nothing for a task without a page. */
export function OpenLink({ task }: { task: Task }) {
  const opening = useOpening(task);
  if (opening === null) return null;
  if (opening.refusal !== null) {
    return (
      <Hint text={opening.refusal}>
        <span className={css["off"]}>Open</span>
        <span className="visually-hidden">: {opening.refusal}</span>
      </Hint>
    );
  }
  return (
    <a href={opening.href} target="_blank" rel="noopener">
      Open<span className="visually-hidden"> {task.name} in a new tab</span>
    </a>
  );
}

/** The button of a task's own page, with the reason in words beside it. */
export function OpenButton({ task }: { task: Task }) {
  const opening = useOpening(task);
  if (opening === null) return null;
  const icon = <ExternalLink size={14} aria-hidden="true" />;
  if (opening.refusal !== null) {
    return (
      <>
        <span className={css["muted"]}>{opening.refusal}</span>
        <Button icon={icon} isDisabled>
          Open
        </Button>
      </>
    );
  }
  return (
    <a className={css["open"]} href={opening.href} target="_blank" rel="noopener">
      {icon}
      Open
    </a>
  );
}

function useOpening(task: Task) {
  const { permissions } = useSession();
  return openingOf(task, permissions.mayChange(task.userId));
}
