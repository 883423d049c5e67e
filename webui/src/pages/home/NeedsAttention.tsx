// What of mine failed in the last seven days: experiments, and trials of searches that go on without them, each with
// the log line that explains it.
import { useMemo } from "react";
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import { causeOf, experimentError } from "../../detail/cause";
import { useExplainingLine } from "../../detail/TrialCause";
import { plainText } from "../../log/ansi";
import { type FieldNode, type FilterValue, filterText, group } from "../../query/filter";
import { Card } from "../../ui/Card";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago } from "../../ui/format";
import { Skeleton } from "../../ui/Skeleton";
import { StatePill } from "../../ui/StatePill";
import { Link } from "../../url";
import css from "./HomePage.module.css";

type Run = Schemas["FlatRun"];

const DAYS = 7;
const MOST = 5;
const LONGEST = 300;

export function NeedsAttention({ userId }: { userId: number | null | undefined }) {
  const failed = useApi("listExperiments", {
    query: {
      userIds: userId ? [userId] : [],
      states: ["STATE_ERROR"],
      archived: false,
      sortBy: "SORT_BY_END_TIME",
      orderBy: "ORDER_BY_DESC",
      limit: 20,
    },
  });
  const trials = useApi("searchRuns", {
    body: { filter: failedTrials(userId), sort: "endTime=desc", limit: 50 },
  });
  const recent = useMemo(() => sinceDays(failed.data?.experiments ?? [], Date.now()), [failed.data]);
  const lone = useMemo(() => lastOfEach(sinceDays(trials.data?.runs ?? [], Date.now()), recent), [trials.data, recent]);
  const hidden = Math.max(0, recent.length - MOST) + Math.max(0, lone.length - MOST);
  return (
    <Card title="Needs attention">
      {failed.error && <ErrorCard error={failed.error} onRetry={failed.refetch} />}
      {failed.isPending && <Skeleton rows={2} />}
      {failed.data && recent.length + lone.length === 0 && <p>Nothing of yours failed in the last {DAYS} days.</p>}
      <ul className={css["list"]}>
        {recent.slice(0, MOST).map((experiment) => (
          <Failure key={experiment.id} experiment={experiment} />
        ))}
        {lone.slice(0, MOST).map((run) => (
          <FailedTrial key={run.id} run={run} />
        ))}
      </ul>
      {hidden > 0 && <p>and {hidden} more</p>}
    </Card>
  );
}

function sinceDays<T extends { endTime?: string | null | undefined }>(things: readonly T[], now: number): T[] {
  return things.filter(({ endTime }) => !endTime || now - Date.parse(endTime) < DAYS * 86_400_000);
}

/** The latest failed trial of each experiment that is not among the failed ones itself. */
function lastOfEach(runs: readonly Run[], experiments: readonly Schemas["Experiment"][]): Run[] {
  const seen = new Set(experiments.map(({ id }) => id));
  return runs.filter(({ experiment }) => {
    if (!experiment || seen.has(experiment.id)) return false;
    seen.add(experiment.id);
    return true;
  });
}

function failedTrials(userId: number | null | undefined): string {
  const field = (columnName: string, type: string, value: FilterValue): FieldNode => ({
    kind: "field",
    columnName,
    location: "LOCATION_TYPE_RUN",
    type,
    operator: "=",
    value,
  });
  const searches = [
    field("state", "COLUMN_TYPE_TEXT", "ERROR"),
    field("isExperimentMultitrial", "COLUMN_TYPE_BOOLEAN", true),
  ];
  const mine = userId ? [field("userId", "COLUMN_TYPE_NUMBER", userId)] : [];
  return filterText({ filterGroup: group("and", [...searches, ...mine]), showArchived: false });
}

function Failure({ experiment }: { experiment: Schemas["Experiment"] }) {
  const trials = useApi(
    "listTrials",
    { path: { experiment_id: experiment.id }, query: { states: ["STATE_ERROR"], limit: 1 } },
    { staleTime: 60_000 },
  );
  const trial = trials.data?.trials[0];
  const error = experimentError(experiment);
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
      {error && <div className={css["why"]}>{error.length > LONGEST ? `${error.slice(0, LONGEST)}…` : error}</div>}
      {trial && <Why experiment={experiment} trial={trial} />}
    </li>
  );
}

function FailedTrial({ run }: { run: Run }) {
  const { experiment } = run;
  if (!experiment) return null;
  return (
    <li>
      <div className={css["row"]}>
        <Link href={`/experiments/${experiment.id}/trials/${run.id}`}>
          Trial {run.id} of {experiment.name}
        </Link>
        <StatePill state={run.state} />
        <span className={css["facts"]}>
          experiment #{experiment.id} · {ago(run.endTime)}
        </span>
      </div>
      <Why experiment={{ id: experiment.id }} trial={run} />
    </li>
  );
}

interface WhyProps {
  experiment: { id: number; config?: Schemas["Experiment"]["config"] };
  trial: { id: number; logPolicyMatched?: string | null | undefined };
}

function Why({ experiment, trial }: WhyProps) {
  const cause = causeOf([], trial.logPolicyMatched, experiment.config ?? {});
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
