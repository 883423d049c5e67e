// The page of a trial: head, tabs, the neighbours one key away. A bare /trials/:id finds its experiment first.

import { useEffect, useMemo } from "react";
import { useActionCommands } from "../../actions/useActionCommands";
import { useExperimentActions } from "../../actions/useExperimentActions";
import { useLive } from "../../api/live";
import { useApi } from "../../api/useApi";
import { usePins } from "../../detail/chartSettings";
import { TrialTab, trialTabLinks, trialTabOf } from "../../detail/trialTabs";
import type { Experiment, Trial } from "../../detail/types";
import { ErrorCard } from "../../ui/ErrorCard";
import { Menu } from "../../ui/Menu";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/Skeleton";
import { TabLinks } from "../../ui/TabLinks";
import { navigate } from "../../url";
import { Neighbours } from "./Neighbours";
import { useTrialActions } from "./useTrialActions";

export interface TrialPageProps {
  experimentId?: string | undefined;
  trialId: string;
  tab?: string | undefined;
}

export default function TrialPage({ experimentId, trialId, tab }: TrialPageProps) {
  const id = Number(trialId);
  const trial = useApi("getTrial", { path: { trial_id: id } }, { enabled: Number.isInteger(id) });
  const owner = trial.data?.trial.experimentId;
  const experiment = useApi("getExperiment", { path: { experiment_id: owner ?? 0 } }, { enabled: owner !== undefined });
  useEffect(() => {
    if (owner === undefined || String(owner) === experimentId) return;
    const { search, hash } = window.location;
    navigate(`/experiments/${owner}/trials/${trialId}${tab === undefined ? "" : `/${tab}`}${search}${hash}`, {
      replace: true,
    });
  }, [owner, experimentId, trialId, tab]);
  const error = trial.error ?? experiment.error;
  const retry = () => void (trial.error ? trial.refetch() : experiment.refetch());
  if (trial.data === undefined || experiment.data === undefined) {
    return (
      <Page title={`Trial ${trialId}`}>
        {error ? <ErrorCard error={error} onRetry={retry} /> : <Skeleton rows={8} />}
      </Page>
    );
  }
  return <Loaded key={id} trial={trial.data.trial} experiment={experiment.data.experiment} tab={tab} />;
}

function Loaded({ trial, experiment, tab }: { trial: Trial; experiment: Experiment; tab: string | undefined }) {
  const live = useMemo(
    () => ({
      experiments: [experiment.id],
      trials: { trialIds: [trial.id] },
      checkpoints: { experimentIds: [experiment.id] },
      metrics: { trialIds: [trial.id] },
    }),
    [experiment.id, trial.id],
  );
  useLive(live);
  const [pins] = usePins();
  const steer = useExperimentActions(experiment, trial.id);
  const actions = useTrialActions(trial, steer.actions, experiment);
  useActionCommands(actions, `trial ${trial.id}`);
  const current = trialTabOf(tab) ?? "overview";
  const path = `/experiments/${experiment.id}/trials/${trial.id}`;
  return (
    <Page
      title={`Trial ${trial.id}`}
      state={trial.state}
      crumbs={crumbsOf(experiment)}
      actions={
        <>
          <Neighbours experiment={experiment} trial={trial} tab={current} />
          <Menu label="Actions" items={actions} />
        </>
      }
    >
      <TabLinks tabs={trialTabLinks(path, pins, trial.checkpointCount)} current={current} label="Parts of the trial" />
      <TrialTab tab={current} experiment={experiment} trial={trial} />
      {steer.dialog}
    </Page>
  );
}

function crumbsOf(experiment: Experiment): { label: string; href: string }[] {
  return [
    { label: experiment.workspaceName ?? "Workspace", href: `/workspaces/${experiment.workspaceId ?? 1}` },
    { label: experiment.projectName ?? "Project", href: `/projects/${experiment.projectId}` },
    { label: `${experiment.name} (${experiment.id})`, href: `/experiments/${experiment.id}` },
  ];
}
