// An experiment of one trial: the tabs of that trial, and the code and notes of the experiment.

import { isEnded } from "../../actions/verbs";
import { useApi } from "../../api/useApi";
import { CodeTab } from "../../detail/CodeTab";
import { usePins } from "../../detail/chartSettings";
import { ExperimentCause } from "../../detail/ExperimentCause";
import { TrialTab, trialTabLinks, trialTabOf } from "../../detail/trialTabs";
import type { Experiment } from "../../detail/types";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { Skeleton } from "../../ui/Skeleton";
import { TabLinks } from "../../ui/TabLinks";
import { NotesTab } from "./NotesTab";

interface OneTrialProps {
  experiment: Experiment;
  trialId: number | undefined;
  tab: string | undefined;
}

export function OneTrial({ experiment, trialId, tab }: OneTrialProps) {
  const [pins] = usePins();
  const path = `/experiments/${experiment.id}`;
  const ofTrial = trialTabLinks(path, pins, experiment.checkpointCount);
  const tabs = [...ofTrial.slice(0, -2), { id: "notes", label: "Notes", href: `${path}/notes` }, ...ofTrial.slice(-2)];
  const current = tab === "code" || tab === "notes" ? tab : (trialTabOf(tab) ?? "overview");
  return (
    <>
      <TabLinks tabs={tabs} current={current} label="Parts of the experiment" />
      {current === "code" && <CodeTab experiment={experiment} />}
      {current === "notes" && <NotesTab experiment={experiment} />}
      {current !== "code" && current !== "notes" && <Trial experiment={experiment} trialId={trialId} tab={current} />}
    </>
  );
}

function Trial({ experiment, trialId, tab }: { experiment: Experiment; trialId: number | undefined; tab: string }) {
  const answer = useApi("getTrial", { path: { trial_id: trialId ?? 0 } }, { enabled: trialId !== undefined });
  const current = trialTabOf(tab);
  if (trialId === undefined) return <NoTrial experiment={experiment} />;
  if (answer.error) return <ErrorCard error={answer.error} onRetry={() => void answer.refetch()} />;
  if (answer.data === undefined || current === null) return <Skeleton rows={8} />;
  return <TrialTab tab={current} experiment={experiment} trial={answer.data.trial} />;
}

function NoTrial({ experiment }: { experiment: Experiment }) {
  if (!isEnded(experiment.state)) return <Empty title="No trial yet">The searcher has not created its trial.</Empty>;
  return (
    <>
      <ExperimentCause experiment={experiment} />
      <Empty title="No trial">It ended before the searcher created its trial.</Empty>
    </>
  );
}
