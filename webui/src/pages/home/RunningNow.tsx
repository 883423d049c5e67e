// My experiments that are not over: state, progress, the metric and how long they run.
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import { secondsLeft } from "../../detail/progress";
import { QueueReason } from "../../detail/QueueReason";
import { Card } from "../../ui/Card";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago, duration, metricNumber, plural, secondsBetween } from "../../ui/format";
import { Progress } from "../../ui/Progress";
import { Skeleton } from "../../ui/Skeleton";
import { StatePill } from "../../ui/StatePill";
import { Link } from "../../url";
import css from "./HomePage.module.css";
import { Trend } from "./Trend";

const ACTIVE: Schemas["ExperimentState"][] = [
  "STATE_ACTIVE",
  "STATE_PAUSED",
  "STATE_QUEUED",
  "STATE_PULLING",
  "STATE_STARTING",
  "STATE_RUNNING",
  "STATE_STOPPING_COMPLETED",
  "STATE_STOPPING_CANCELED",
  "STATE_STOPPING_ERROR",
  "STATE_STOPPING_KILLED",
];

export function RunningNow({ userId }: { userId: number | null | undefined }) {
  const running = useApi("listExperiments", {
    query: {
      userIds: userId ? [userId] : [],
      states: ACTIVE,
      archived: false,
      sortBy: "SORT_BY_START_TIME",
      orderBy: "ORDER_BY_DESC",
      limit: 10,
      showTrialData: true,
    },
  });
  const found = running.data?.experiments ?? [];
  const going = found.filter((one) => one.state !== "STATE_PAUSED");
  const paused = found.filter((one) => one.state === "STATE_PAUSED");
  return (
    <Card title="Running now">
      {running.error && <ErrorCard error={running.error} onRetry={running.refetch} />}
      {running.isPending && <Skeleton rows={3} />}
      {running.data !== undefined && going.length === 0 && (
        <Empty title="Nothing of yours is running">
          <Link href="/experiments/new">Start an experiment</Link>
        </Empty>
      )}
      <Rows experiments={going} />
      {paused.length > 0 && (
        <>
          <h3>Paused</h3>
          <Rows experiments={paused} />
        </>
      )}
    </Card>
  );
}

function Rows({ experiments }: { experiments: Schemas["Experiment"][] }) {
  if (experiments.length === 0) return null;
  return (
    <ul className={css["list"]}>
      {experiments.map((experiment) => (
        <Row key={experiment.id} experiment={experiment} />
      ))}
    </ul>
  );
}

function Row({ experiment }: { experiment: Schemas["Experiment"] }) {
  const progress = experiment.progress ?? 0;
  const elapsed = secondsBetween(experiment.startTime, experiment.endTime);
  const left = experiment.state === "STATE_PAUSED" ? null : secondsLeft(progress, elapsed);
  const isQueued = experiment.state === "STATE_QUEUED";
  const { searcherMetric, bestTrialSearcherMetric } = experiment;
  return (
    <li>
      <div className={css["row"]}>
        <Link href={`/experiments/${experiment.id}`}>
          {experiment.name} <span className="visually-hidden">experiment {experiment.id}</span>
        </Link>
        <StatePill state={experiment.state} />
        {searcherMetric && experiment.bestTrialId != null && (
          <Trend trialId={experiment.bestTrialId} metric={searcherMetric} />
        )}
      </div>
      <Progress value={progress} label={`Progress of ${experiment.name}`} />
      <div className={css["facts"]}>
        <span>
          #{experiment.id} · {plural(experiment.numTrials, "trial")}
        </span>
        <span>{Math.round(progress * 100)} %</span>
        {searcherMetric && bestTrialSearcherMetric != null && (
          <span>
            best {searcherMetric} {metricNumber(bestTrialSearcherMetric)}
          </span>
        )}
        <span>
          {isQueued ? "submitted" : "started"} {ago(experiment.startTime)}
        </span>
        {left !== null && <span>about {duration(left)} left</span>}
      </div>
      {isQueued && <QueueReason experiment={experiment} />}
    </li>
  );
}
