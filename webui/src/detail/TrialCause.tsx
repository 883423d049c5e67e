// Why a trial failed: the cause in words, what was recorded, and the log line that explains it. Beside ExperimentCause.

import { useEffect, useState } from "react";
import { lines } from "../api/client";
import { useApi } from "../api/useApi";
import { plainText } from "../log/ansi";
import { fromWire, type LogLine } from "../log/line";
import { Card } from "../ui/Card";
import { Lines } from "../ui/Lines";
import { Link } from "../url";
import { type Cause, causeOf, experimentError } from "./cause";
import css from "./detail.module.css";
import type { Experiment, Trial } from "./types";

interface TrialCauseProps {
  experiment: Experiment;
  trial: Trial;
  /** It stands among other trials. */
  isNamed?: boolean;
}

export function TrialCause({ experiment, trial, isNamed = false }: TrialCauseProps) {
  const isFailed = trial.state === "STATE_ERROR" || Boolean(trial.logPolicyMatched);
  const task = useApi(
    "getTask",
    { path: { task_id: trial.taskId ?? "" } },
    { enabled: isFailed && Boolean(trial.taskId) },
  );
  if (!isFailed) return null;
  const cause = causeOf(task.data?.task.allocations ?? [], trial.logPolicyMatched, experiment.config);
  const error = experimentError(experiment);
  // where it was ended because the experiment was, that is told already
  if (error !== null && (task.data === undefined || cause.detail === error)) return null;
  return (
    <CauseCard
      cause={cause}
      experimentId={experiment.id}
      trialId={trial.id}
      isNamed={isNamed}
      isOver={trial.state === "STATE_ERROR"}
    />
  );
}

interface CauseCardProps {
  cause: Cause;
  experimentId: number;
  trialId: number;
  isNamed: boolean;
  isOver: boolean;
}

function CauseCard({ cause, experimentId, trialId, isNamed, isOver }: CauseCardProps) {
  const line = useExplainingLine(trialId, cause.pattern);
  const logs = `/experiments/${experimentId}/trials/${trialId}/logs`;
  return (
    <Card>
      <section className={css["cause"]} aria-label="Why it failed">
        <h2>
          <span aria-hidden="true">✕ </span>
          {isNamed && `Trial ${trialId}: `}
          {isOver ? cause.title : cause.title.replace("Failed: ", "Log policy matched: ")}
        </h2>
        {cause.detail !== "" && (
          <p className={css["recorded"]}>
            <Lines text={cause.detail} />
          </p>
        )}
        {cause.hint !== "" && <p>{cause.hint}</p>}
        {line === null ? (
          <Link href={logs}>See the log</Link>
        ) : (
          <p>
            <code className={css["line"]}>{plainText(line.text)}</code>{" "}
            <Link href={`${logs}#L${line.id}`}>See it in the log, line {line.id}</Link>
          </p>
        )}
      </section>
    </Card>
  );
}

/** The last line of the task that matches; what the platform wrote about the end is no explanation. */
export function useExplainingLine(trialId: number, pattern: string): LogLine | null {
  const [line, setLine] = useState<LogLine | null>(null);
  useEffect(() => {
    const ends = new AbortController();
    const last = { orderBy: "ORDER_BY_DESC", limit: 1 } as const;
    const query = { ...last, searchText: pattern, enableRegex: true, sources: ["task"] };
    const params = { path: { trial_id: trialId }, query };
    const read = async (): Promise<void> => {
      for await (const found of lines("streamTrialLogs", params, ends.signal)) {
        setLine(fromWire(found));
        return;
      }
    };
    // no line is no more than a missing link: the card still names the cause
    read().catch(() => setLine(null));
    return () => ends.abort();
  }, [trialId, pattern]);
  return line;
}
