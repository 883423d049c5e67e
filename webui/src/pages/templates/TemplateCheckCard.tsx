// What is wrong with the text of a template, or that nothing is.
import { ProblemList } from "../../detail/ProblemList";
import { Card } from "../../ui/Card";
import { ErrorCard } from "../../ui/ErrorCard";
import css from "./templates.module.css";
import type { TemplateCheck } from "./useTemplateCheck";

export function TemplateCheckCard({ check }: { check: TemplateCheck }) {
  const { answer, isChecking, error } = check;
  const problems = answer?.problems ?? [];
  return (
    <Card title={isChecking ? "Check (checking…)" : "Check"}>
      <div className={css["said"]} aria-live="polite">
        {error ? <ErrorCard error={error} /> : null}
        {answer && problems.length === 0 && <p className={css["sound"]}>✓ Nothing is wrong with it.</p>}
        {problems.length > 0 && <ProblemList problems={problems} />}
        {problems.length > 0 && answer?.config && (
          <p className={css["muted"]}>It can be saved; what uses it is refused until this is mended.</p>
        )}
        {(answer?.warnings ?? []).map((words) => (
          <p key={words} className={css["warning"]}>
            ! {words}
          </p>
        ))}
      </div>
    </Card>
  );
}
