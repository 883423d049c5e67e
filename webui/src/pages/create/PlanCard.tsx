// What the draft would do, what is wrong with it, and the buttons that submit it.
import { type ReactNode, useState } from "react";
import { ProblemList } from "../../detail/ProblemList";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { ErrorCard } from "../../ui/ErrorCard";
import css from "./create.module.css";
import { sizeWords, startWords, templateWords, trialWords } from "./plan";
import type { Draft } from "./useDraft";

export interface PlanCardProps {
  draft: Draft;
  /** The word on the button. */
  verb: string;
  onLaunch: (activate: boolean) => Promise<boolean>;
  /** A continued experiment always starts. */
  mayPause: boolean;
  /** Told instead of the plan: nothing of the draft is sent. */
  instead?: ReactNode;
  /** Told instead of how many trials it creates. */
  lead?: string | undefined;
  notes?: readonly string[] | undefined;
  /** Under the draft; empty: none. */
  template: string;
}

export function PlanCard({ draft, verb, onLaunch, mayPause, instead, lead, notes = [], template }: PlanCardProps) {
  const [isSending, setSending] = useState(false);
  const { answer, isChecking, error } = draft;
  const isSound = instead !== undefined || (answer !== null && answer.problems.length === 0 && !error);
  const mayGo = isSound && !isChecking;
  const launch = async (activate: boolean) => {
    setSending(true);
    if (!(await onLaunch(activate))) setSending(false);
  };
  const actions = (
    <>
      {mayPause && (
        <Button isDisabled={!mayGo || isSending} onPress={() => void launch(false)}>
          {verb} paused
        </Button>
      )}
      <Button kind="primary" isDisabled={!mayGo} isPending={isSending} onPress={() => void launch(true)}>
        {verb}
      </Button>
    </>
  );
  return (
    <Card title={isChecking ? "Plan (checking…)" : "Plan"} actions={actions}>
      <div className={css["plan"]} aria-live="polite">
        {error ? <ErrorCard error={error} /> : null}
        {instead ?? <Outcome draft={draft} lead={lead} template={template} />}
        {[...(answer?.warnings ?? []), ...notes].map((words) => (
          <p key={words} className={css["warning"]}>
            ! {words}
          </p>
        ))}
      </div>
    </Card>
  );
}

function Outcome({ draft, lead, template }: { draft: Draft; lead: string | undefined; template: string }) {
  const { answer } = draft;
  if (answer === null) return draft.error ? null : <p className={css["muted"]}>Checking what this would do…</p>;
  const { problems } = answer;
  if (problems.length === 0) {
    const words = lead ?? [trialWords(answer), sizeWords(answer)].filter((part) => part !== "").join(" ");
    return (
      <>
        <p>{words}</p>
        <p className={answer.starts === "now" ? css["starts"] : css["waits"]}>
          <span aria-hidden="true">{answer.starts === "now" ? "▶ " : "◔ "}</span>
          {startWords(answer)}
        </p>
        {answer.fromTemplate && <p className={css["muted"]}>{templateWords(answer, template)}</p>}
      </>
    );
  }
  return <ProblemList problems={problems} />;
}
