// A search at a glance: how the best value came about, the best trials, what failed, and when each trial ran.

import { useMemo } from "react";
import { isEnded } from "../../actions/verbs";
import { useApi } from "../../api/useApi";
import { experimentError } from "../../detail/cause";
import { isSmallerBetter, searcherMetric, slotsPerTrial } from "../../detail/config";
import css from "../../detail/detail.module.css";
import { slotHours } from "../../detail/progress";
import { TrialCause } from "../../detail/TrialCause";
import type { Experiment, Trial } from "../../detail/types";
import { Card } from "../../ui/Card";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { Skeleton } from "../../ui/Skeleton";
import { Link, navigate } from "../../url";
import { History } from "../../viz/History";
import { Timeline } from "../../viz/Timeline";
import { TrialTable } from "./TrialTable";
import { timelineRows } from "./timelineRows";
import { shownText, type TrialsAnswer, useTrials } from "./useTrials";

const TOP = 5;
const LATEST = 40;
const UNITS = [
  ["hours", 3_600_000],
  ["minutes", 60_000],
  ["seconds", 1000],
] as const;

export function OverviewTab({ experiment }: { experiment: Experiment }) {
  const found = useTrials(experiment);
  const metric = searcherMetric(experiment.config) ?? "metric";
  if (found.error && found.trials.length === 0) return <ErrorCard error={found.error} onRetry={found.refetch} />;
  if (found.isPending) return <Skeleton rows={10} />;
  if (found.trials.length === 0) return <NoTrials isOver={isEnded(experiment.state)} />;
  const path = `/experiments/${experiment.id}`;
  const failed = found.trials.filter((trial) => trial.state === "STATE_ERROR");
  const isUnexplained = experiment.state === "STATE_ERROR" && experimentError(experiment) === null;
  return (
    <div className={css["stack"]}>
      {failed[0] !== undefined && <Failure experiment={experiment} failed={failed} />}
      {failed.length === 0 && isUnexplained && <SearchFailed logs={`${path}/logs`} />}
      <div className={css["split"]}>
        <Card title={`Best ${metric} so far`}>
          <BestSoFar experiment={experiment} metric={metric} />
        </Card>
        <Card title="Best trials" actions={<Link href={`${path}/trials`}>All trials</Link>}>
          <TrialTable
            caption={`The ${TOP} best trials`}
            hidesCaption
            isBrief
            trials={found.trials.slice(0, TOP)}
            axes={found.axes.slice(0, 3)}
            metricName={metric}
          />
        </Card>
      </div>
      <Card title="When trials ran" actions={<Link href={`${path}/visualization/timeline`}>Whole timeline</Link>}>
        <Timeline
          rows={timelineRows(latest(found.trials))}
          now={Date.now()}
          onPick={(id) => navigate(`${path}/trials/${id}`)}
        />
      </Card>
      <p className={css["muted"]}>{usage(experiment, found)}</p>
    </div>
  );
}

/** What it cost the cluster, where every trial is known and the cluster ran them. */
function usage(experiment: Experiment, found: Pick<TrialsAnswer, "trials" | "total">): string {
  if (found.trials.length < found.total) return shownText(found);
  if (experiment.unmanaged) return "";
  return `${slotHours(found.trials, slotsPerTrial(experiment.config)).toFixed(2)} slot hours so far.`;
}

function NoTrials({ isOver }: { isOver: boolean }) {
  if (isOver) return <Empty title="No trials">It ended before the searcher created one.</Empty>;
  return <Empty title="No trials yet">They appear as the searcher creates them.</Empty>;
}

function latest(trials: readonly Trial[]): Trial[] {
  return [...trials]
    .sort((a, b) => b.id - a.id)
    .slice(0, LATEST)
    .reverse();
}

function Failure({ experiment, failed }: { experiment: Experiment; failed: readonly Trial[] }) {
  const [first] = failed;
  if (first === undefined) return null;
  const href = `/experiments/${experiment.id}/trials?state=ERROR`;
  return (
    <div className={css["stack"]}>
      <TrialCause experiment={experiment} trial={first} isNamed />
      {failed.length > 1 && <Link href={href}>All {failed.length} failed trials</Link>}
    </div>
  );
}

/** Trials that leave early count as failed for the search, and as completed for themselves. */
function SearchFailed({ logs }: { logs: string }) {
  return (
    <Card>
      <section className={css["cause"]} aria-label="Why it failed">
        <h2>
          <span aria-hidden="true">✕ </span>The search failed, though none of its trials did
        </h2>
        <p>
          Mostly the trials ended by themselves before they had trained as long as the searcher asked for.{" "}
          <Link href={logs}>The last lines of a log</Link> say how a trial ended.
        </p>
      </section>
    </Card>
  );
}

function BestSoFar({ experiment, metric }: { experiment: Experiment; metric: string }) {
  const answer = useApi("getValidationHistory", {
    path: { experiment_id: experiment.id },
  });
  const { points, unit } = useMemo(() => {
    const start = Date.parse(experiment.startTime);
    const entries = answer.data?.validationHistory ?? [];
    const last = entries.reduce((most, entry) => Math.max(most, Date.parse(entry.endTime) - start), 0);
    const [word, millis] = UNITS.find(([, size]) => last >= 3 * size) ?? UNITS[2];
    const found = entries.map((entry, i) => ({
      id: `${entry.trialId} ${i}`,
      x: (Date.parse(entry.endTime) - start) / millis,
      y: entry.searcherMetric,
      label: `trial ${entry.trialId}`,
    }));
    return { points: found, unit: word };
  }, [answer.data, experiment.startTime]);
  if (answer.error) return <ErrorCard error={answer.error} onRetry={() => void answer.refetch()} />;
  if (answer.data === undefined) return <Skeleton rows={5} />;
  if (points.length === 0)
    return <Empty title="No validation yet">A point appears with the first value of {metric}.</Empty>;
  return (
    <History
      points={points}
      best={isSmallerBetter(experiment.config) ? "lower" : "higher"}
      xLabel={`${unit} since the start`}
      yLabel={metric}
      height={240}
      onPick={(id) => navigate(`/experiments/${experiment.id}/trials/${String(id).split(" ")[0]}`)}
    />
  );
}
