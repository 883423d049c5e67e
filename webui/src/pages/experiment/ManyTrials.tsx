// An experiment of many trials: its tabs.

import { isEnded } from "../../actions/verbs";
import { CheckpointTable } from "../../detail/CheckpointTable";
import { CodeTab } from "../../detail/CodeTab";
import { isSmallerBetter } from "../../detail/config";
import { ExperimentCause } from "../../detail/ExperimentCause";
import type { Experiment } from "../../detail/types";
import { TabLinks } from "../../ui/TabLinks";
import { LogsTab } from "./LogsTab";
import { NotesTab } from "./NotesTab";
import { OverviewTab } from "./OverviewTab";
import { TrialsTab } from "./TrialsTab";
import { VisualizationTab } from "./VisualizationTab";

const TABS = ["overview", "visualization", "trials", "checkpoints", "code", "notes", "logs"] as const;
type Tab = (typeof TABS)[number];

interface ManyTrialsProps {
  experiment: Experiment;
  tab: string | undefined;
  viz: string | undefined;
}

export function ManyTrials({ experiment, tab, viz }: ManyTrialsProps) {
  const current = TABS.find((one) => one === tab) ?? (tab === "runs" ? "trials" : "overview");
  const counts: Partial<Record<Tab, number>> = {
    trials: experiment.numTrials,
    ...(experiment.checkpointCount ? { checkpoints: experiment.checkpointCount } : {}),
  };
  const tabs = TABS.map((id) => ({
    id,
    label: id.charAt(0).toUpperCase() + id.slice(1),
    href: `/experiments/${experiment.id}/${id}`,
    count: counts[id],
  }));
  return (
    <>
      <TabLinks tabs={tabs} current={current} label="Parts of the experiment" />
      <Current tab={current} experiment={experiment} viz={viz} />
    </>
  );
}

function Current({ tab, experiment, viz }: { tab: Tab; experiment: Experiment; viz: string | undefined }) {
  switch (tab) {
    case "overview":
      return (
        <>
          <ExperimentCause experiment={experiment} />
          <OverviewTab experiment={experiment} />
        </>
      );
    case "visualization":
      return <VisualizationTab experiment={experiment} viz={viz} />;
    case "trials":
      return <TrialsTab experiment={experiment} />;
    case "checkpoints":
      return (
        <CheckpointTable
          owner={{ experimentId: experiment.id }}
          smallerIsBetter={isSmallerBetter(experiment.config)}
          isOver={isEnded(experiment.state)}
          workspaceId={experiment.workspaceId ?? undefined}
        />
      );
    case "code":
      return <CodeTab experiment={experiment} />;
    case "notes":
      return <NotesTab experiment={experiment} />;
    case "logs":
      return <LogsTab experiment={experiment} />;
  }
}
