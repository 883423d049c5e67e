// A trial at a glance: why it failed, what it holds, its pinned charts beside its last log lines, its workloads.

import { isEnded } from "../actions/verbs";
import { useApi } from "../api/useApi";
import { LogTail } from "../log/LogTail";
import { Card } from "../ui/Card";
import { bytes, dateTime, duration, metricNumber } from "../ui/format";
import { Link } from "../url";
import { maxRestarts, restartWords, searcherMetric, slotsPerTrial } from "./config";
import css from "./detail.module.css";
import { ExperimentCause } from "./ExperimentCause";
import { type Fact, Facts } from "./Facts";
import { PinnedCharts } from "./PinnedCharts";
import { ResourceStrip } from "./ResourceStrip";
import { startingText } from "./starting";
import { TrialCause } from "./TrialCause";
import type { Experiment, Trial } from "./types";
import { WorkloadTable } from "./WorkloadTable";

export function TrialOverview({ experiment, trial }: { experiment: Experiment; trial: Trial }) {
  const metric = searcherMetric(experiment.config);
  const logs = `/experiments/${experiment.id}/trials/${trial.id}/logs`;
  return (
    <div className={css["stack"]}>
      {(experiment.numTrials <= 1 || trial.state === "STATE_ERROR") && <ExperimentCause experiment={experiment} />}
      <TrialCause experiment={experiment} trial={trial} />
      <TrialFacts experiment={experiment} trial={trial} />
      <ResourceStrip trial={trial} />
      <div className={css["beside"]}>
        <PinnedCharts trial={trial} searcherMetric={metric} />
        <Card title="Last log lines" actions={<Link href={logs}>All logs</Link>}>
          <LogTail source={{ kind: "trial", trialId: trial.id }} emptyText={startingText(trial.state)} />
        </Card>
      </div>
      <Card title="Workloads">
        <WorkloadTable trialId={trial.id} isOver={isEnded(trial.state)} />
      </Card>
    </div>
  );
}

function TrialFacts({ experiment, trial }: { experiment: Experiment; trial: Trial }) {
  const remaining = useApi("getRemainingLogDays", { path: { trial_id: trial.id } }, { staleTime: 600_000 });
  const days = remaining.data?.remainingDays;
  const best = trial.searcherMetricValue;
  return (
    <Facts
      facts={[
        trial.runnerState ? { name: "Runner", value: trial.runnerState } : null,
        { name: "Started", value: dateTime(trial.startTime) },
        { name: "Ran for", value: duration(trial.wallClockTime ?? 0) },
        { name: "Batches", value: trial.totalBatchesProcessed.toLocaleString("en") },
        best === null || best === undefined
          ? null
          : { name: `Best ${searcherMetric(experiment.config) ?? "metric"}`, value: metricNumber(best) },
        {
          name: "Checkpoints",
          value: `${trial.checkpointCount ?? 0}, ${bytes(Number(trial.totalCheckpointSize ?? 0))}`,
        },
        trial.stopReason ? { name: "Why it ended", value: trial.stopReason } : null,
        ...(experiment.unmanaged ? [] : managed(experiment, trial)),
        { name: "Log retention", value: typeof days === "number" && days >= 0 ? `${days} days left` : "kept" },
      ]}
    />
  );
}

/** What the cluster gave it and may do for it. */
function managed(experiment: Experiment, trial: Trial): Fact[] {
  return [
    { name: "Slots", value: slotsPerTrial(experiment.config) },
    { name: "Restarts", value: restartWords(trial.restarts, maxRestarts(experiment.config)) },
  ];
}
