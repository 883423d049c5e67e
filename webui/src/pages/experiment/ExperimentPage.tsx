// The page of an experiment. With one trial it shows that trial; with many, the search and what it found.

import { useMemo } from "react";
import { useActionCommands } from "../../actions/useActionCommands";
import { useExperimentActions } from "../../actions/useExperimentActions";
import { useLive } from "../../api/live";
import { useApi } from "../../api/useApi";
import { isSingleTrial } from "../../detail/config";
import { ExperimentHeader } from "../../detail/ExperimentHeader";
import type { Experiment } from "../../detail/types";
import { useTrialInside } from "../../task/useTrialInside";
import { ErrorCard } from "../../ui/ErrorCard";
import { Menu } from "../../ui/Menu";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/Skeleton";
import { useShortcut } from "../../ui/useShortcut";
import { navigate } from "../../url";
import { EditableName } from "./EditableName";
import { ManyTrials } from "./ManyTrials";
import { OneTrial } from "./OneTrial";

export interface ExperimentPageProps {
  experimentId: string;
  tab?: string | undefined;
  viz?: string | undefined;
}

export default function ExperimentPage({ experimentId, tab, viz }: ExperimentPageProps) {
  const id = Number(experimentId);
  const answer = useApi("getExperiment", { path: { experiment_id: id } }, { enabled: Number.isInteger(id) });
  if (answer.data !== undefined) return <Loaded key={id} experiment={answer.data.experiment} tab={tab} viz={viz} />;
  return (
    <Page title={`Experiment ${experimentId}`}>
      {answer.error ? <ErrorCard error={answer.error} onRetry={() => void answer.refetch()} /> : <Skeleton rows={8} />}
    </Page>
  );
}

interface LoadedProps {
  experiment: Experiment;
  tab: string | undefined;
  viz: string | undefined;
}

function Loaded({ experiment, tab, viz }: LoadedProps) {
  const isSingle = isSingleTrial(experiment.config, experiment.numTrials, experiment.unmanaged ?? false);
  const trialId = isSingle ? experiment.trialIds?.[0] : undefined;
  const live = useMemo(
    () => ({
      experiments: [experiment.id],
      trials: { experimentIds: [experiment.id] },
      checkpoints: { experimentIds: [experiment.id] },
      ...(trialId === undefined ? {} : { metrics: { trialIds: [trialId] } }),
    }),
    [experiment.id, trialId],
  );
  useLive(live);
  const steer = useExperimentActions(experiment, trialId);
  const path = `/experiments/${experiment.id}`;
  const inside = useTrialInside({ trialId, state: experiment.state, ownerId: experiment.userId, path });
  const actions = [...steer.actions, ...inside];
  useActionCommands(actions, `experiment ${experiment.id}`);
  useShortcut("f", "Fork this experiment", () => steer.run("fork"));
  useShortcut("l", "Logs", () => navigate(`/experiments/${experiment.id}/logs`));
  return (
    <Page
      title={`${experiment.name} (${experiment.id})`}
      heading={<EditableName experiment={experiment} />}
      state={experiment.state}
      crumbs={crumbsOf(experiment)}
      actions={<Menu label="Actions" items={actions} />}
    >
      <ExperimentHeader experiment={experiment} steer={steer} isSingle={isSingle} />
      {isSingle ? (
        <OneTrial experiment={experiment} trialId={trialId} tab={tab} />
      ) : (
        <ManyTrials experiment={experiment} tab={tab} viz={viz} />
      )}
      {steer.dialog}
    </Page>
  );
}

function crumbsOf(experiment: Experiment): { label: string; href: string }[] {
  return [
    { label: experiment.workspaceName ?? "Workspace", href: `/workspaces/${experiment.workspaceId ?? 1}` },
    { label: experiment.projectName ?? "Project", href: `/projects/${experiment.projectId}` },
  ];
}
