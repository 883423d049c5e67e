// My experiments that failed in the last seven days, each with the log line that explains it.
import { useMemo } from "react";
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import { causeOf } from "../../detail/cause";
import { useExplainingLine } from "../../detail/TrialCause";
import { plainText } from "../../log/ansi";
import { Card } from "../../ui/Card";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago } from "../../ui/format";
import { Skeleton } from "../../ui/Skeleton";
import { StatePill } from "../../ui/StatePill";
import { Link } from "../../url";
import css from "./HomePage.module.css";

const DAYS = 7;
const MOST = 5;

export function NeedsAttention({ userId }: { userId: number | null | undefined }) {
  const failed = useApi("GET /api/v1/experiments", {
    query: {
      userIds: userId ? [userId] : [],
      states: ["STATE_ERROR"],
      archived: false,
      sortBy: "SORT_BY_END_TIME",
      orderBy: "ORDER_BY_DESC",
      limit: 20,
    },
  });
  const recent = useMemo(() => sinceDays(failed.data?.experiments ?? [], Date.now()), [failed.data]);
  return (
    <Card title="Needs attention">
      {failed.error && <ErrorCard error={failed.error} onRetry={failed.refetch} />}
      {failed.isPending && <Skeleton rows={2} />}
      {failed.data && recent.length === 0 && <p>Nothing of yours failed in the last {DAYS} days.</p>}
      <ul className={css["list"]}>
        {recent.slice(0, MOST).map((experiment) => (
          <Failure key={experiment.id} experiment={experiment} />
        ))}
      </ul>
      {recent.length > MOST && <p>and {recent.length - MOST} more</p>}
    </Card>
  );
}

function sinceDays(experiments: readonly Schemas["Experiment"][], now: number): Schemas["Experiment"][] {
  return experiments.filter(({ endTime }) => !endTime || now - Date.parse(endTime) < DAYS * 86_400_000);
}

function Failure({ experiment }: { experiment: Schemas["Experiment"] }) {
  const trials = useApi(
    "GET /api/v1/experiments/{experiment_id}/trials",
    { path: { experiment_id: experiment.id }, query: { states: ["STATE_ERROR"], limit: 1 } },
    { staleTime: 60_000 },
  );
  const trial = trials.data?.trials[0];
  return (
    <li>
      <div className={css["row"]}>
        <Link href={`/experiments/${experiment.id}`}>
          {experiment.name} <span className="visually-hidden">experiment {experiment.id}</span>
        </Link>
        <StatePill state={experiment.state} />
        <span className={css["facts"]}>
          #{experiment.id} · {ago(experiment.endTime)}
        </span>
      </div>
      {trial && <Why experiment={experiment} trial={trial} />}
    </li>
  );
}

function Why({ experiment, trial }: { experiment: Schemas["Experiment"]; trial: Schemas["Trial"] }) {
  const cause = causeOf([], trial.logPolicyMatched, experiment.config);
  const line = useExplainingLine(trial.id, cause.pattern);
  const logs = `/experiments/${experiment.id}/trials/${trial.id}/logs`;
  return (
    <>
      {line && <div className={css["why"]}>{plainText(line.text)}</div>}
      <div className={css["row"]}>
        <Link href={line ? `${logs}#L${line.id}` : logs}>
          {line ? `Log of trial ${trial.id}, line ${line.id}` : `Log of trial ${trial.id}`}
        </Link>
      </div>
    </>
  );
}
