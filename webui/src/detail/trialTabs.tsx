// The tabs of a trial, wherever it is shown: on its own page, or as the whole of an experiment with one trial.

import { isEnded } from "../actions/verbs";
import { LogView } from "../log/LogView";
import type { TabLink } from "../ui/TabLinks";
import { CheckpointTable } from "./CheckpointTable";
import { CodeTab } from "./CodeTab";
import { isSmallerBetter } from "./config";
import { Hyperparameters } from "./Hyperparameters";
import { MetadataView } from "./MetadataView";
import { startingText } from "./starting";
import { TrialMetrics } from "./TrialMetrics";
import { TrialOverview } from "./TrialOverview";
import { TrialProfiler } from "./TrialProfiler";
import type { Experiment, Trial } from "./types";
import { WorkloadTable } from "./WorkloadTable";

const LABELS = {
  overview: "Overview",
  metrics: "Metrics",
  hyperparameters: "Hyperparameters",
  checkpoints: "Checkpoints",
  workloads: "Workloads",
  profiler: "Profiler",
  code: "Code",
  logs: "Logs",
  metadata: "Metadata",
} as const;

export type TrialTabId = keyof typeof LABELS;

export function trialTabOf(tab: string | undefined): TrialTabId | null {
  return Object.keys(LABELS).find((id): id is TrialTabId => id === tab) ?? null;
}

/** Links to the tabs below a path; pins go along, so that metrics and overview agree. */
export function trialTabLinks(path: string, pins: readonly string[], checkpoints?: number | null): TabLink[] {
  const query = pins.length === 0 ? "" : `?pin=${pins.map(encodeURIComponent).join(",")}`;
  return Object.entries(LABELS).map(([id, label]) => ({
    id,
    label,
    href: `${path}/${id}${id === "overview" || id === "metrics" ? query : ""}`,
    ...(id === "checkpoints" && checkpoints ? { count: checkpoints } : {}),
  }));
}

export function TrialTab({ tab, experiment, trial }: { tab: TrialTabId; experiment: Experiment; trial: Trial }) {
  switch (tab) {
    case "overview":
      return <TrialOverview experiment={experiment} trial={trial} />;
    case "metrics":
      return <TrialMetrics trial={trial} />;
    case "hyperparameters":
      return <Hyperparameters hparams={trial.hparams} />;
    case "checkpoints":
      return (
        <CheckpointTable
          owner={{ trialId: trial.id }}
          smallerIsBetter={isSmallerBetter(experiment.config)}
          isOver={isEnded(trial.state)}
          workspaceId={experiment.workspaceId ?? undefined}
        />
      );
    case "workloads":
      return <WorkloadTable trialId={trial.id} isOver={isEnded(trial.state)} />;
    case "profiler":
      return <TrialProfiler trial={trial} />;
    case "code":
      return <CodeTab experiment={experiment} />;
    case "logs":
      return <LogView source={{ kind: "trial", trialId: trial.id }} emptyText={startingText(trial.state)} />;
    case "metadata":
      return <MetadataView trialId={trial.id} />;
  }
}
