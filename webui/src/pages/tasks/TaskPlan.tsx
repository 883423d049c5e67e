// What would be started and when; what is wrong with it where nothing can be.
import type { ReactNode } from "react";
import { Card } from "../../ui/Card";
import { ErrorCard } from "../../ui/ErrorCard";
import { plural, straight } from "../../ui/format";
import css from "./tasks.module.css";
import type { DryRun } from "./useDryRun";

interface TaskPlanProps {
  run: DryRun;
  isUnstarted: boolean;
  /** Under the form; empty: none. */
  template: string;
  action: ReactNode;
}

export function TaskPlan({ run, isUnstarted, template, action }: TaskPlanProps) {
  const count = Object.values(run.problems).reduce((sum, words) => sum + words.length, 0);
  return (
    <Card title={run.isChecking ? "Plan (checking…)" : "Plan"} actions={action}>
      <div className={css["plan"]} aria-live="polite">
        {run.error ? <ErrorCard error={run.error} /> : null}
        {count > 0 && <p className={css["failed"]}>{plural(count, "problem")} to mend.</p>}
        {(run.problems.other ?? []).map((words) => (
          <p key={words} className={css["failed"]}>
            <span aria-hidden="true">✕ </span>
            {words}
          </p>
        ))}
        {count === 0 && !run.error && <Outcome run={run} isUnstarted={isUnstarted} template={template} />}
        {(run.answer?.warnings ?? []).map((words) => (
          <p key={words} className={css["warning"]}>
            ! {words}
          </p>
        ))}
      </div>
    </Card>
  );
}

function Outcome({ run, isUnstarted, template }: Omit<TaskPlanProps, "action">) {
  const { answer } = run;
  if (isUnstarted) return <p className={css["muted"]}>Fill in the first field.</p>;
  if (!answer) return <p className={css["muted"]}>Checking what this would do…</p>;
  const { slots, pool, starts, reason } = answer;
  const size = slots ? `Uses ${plural(slots, "slot")} of pool ${pool}.` : `Runs without slots in pool ${pool}.`;
  return (
    <>
      <p>{size}</p>
      <p className={starts === "now" ? css["starts"] : css["waits"]}>
        <span aria-hidden="true">{starts === "now" ? "▶ " : "◔ "}</span>
        {starts === "now" ? "Starts now." : sentence(straight(reason ?? "waits: the cluster is busy"))}
      </p>
      {answer.fromTemplate && answer.fromTemplate.length > 0 && (
        <p className={css["muted"]}>
          From template {template}: {answer.fromTemplate.join(", ")}.
        </p>
      )}
    </>
  );
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!]$/.test(words) ? "" : "."}`;
}
