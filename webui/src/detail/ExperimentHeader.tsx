// The head of an experiment's page: state and what to do about it, progress, the best so far, counts, tags, origin.

import type { ExperimentActions } from "../actions/useExperimentActions";
import { useTags } from "../actions/useTags";
import { isEnded } from "../actions/verbs";
import { call } from "../api/client";
import { useAct, useApi } from "../api/useApi";
import { ago, bytes, duration, metricNumber } from "../ui/format";
import { Progress } from "../ui/Progress";
import { TagsEditor } from "../ui/TagsEditor";
import { Link } from "../url";
import { continuedFrom, isSmallerBetter, maxRestarts, searcherMetric } from "./config";
import css from "./detail.module.css";
import { EditableText } from "./EditableText";
import { type Fact, Facts } from "./Facts";
import { secondsLeft } from "./progress";
import { QueueReason } from "./QueueReason";
import { StateControl } from "./StateControl";
import type { Experiment } from "./types";

export function ExperimentHeader({
  experiment,
  steer,
  isSingle,
}: {
  experiment: Experiment;
  steer: ExperimentActions;
  isSingle: boolean;
}) {
  const saveTags = useTags(experiment);
  const describe = useDescription(experiment);
  return (
    <div className={css["header"]}>
      {!isEnded(experiment.state) && (
        <div className={css["row"]}>
          <StateControl experiment={experiment} steer={steer} />
          <ProgressLine experiment={experiment} />
        </div>
      )}
      <QueueReason experiment={experiment} />
      <div className={css["row"]}>
        <EditableText
          label="Description"
          value={experiment.description ?? ""}
          placeholder="No description"
          onSave={(next) => void describe(next)}
        />
        <TagsEditor
          tags={experiment.labels ?? []}
          onChange={(tags) => void saveTags(tags)}
          isDisabled={experiment.archived}
        />
      </div>
      <Facts facts={[bestOf(experiment), ...useCounts(experiment, isSingle), ...factsOf(experiment)]} />
    </div>
  );
}

function ProgressLine({ experiment }: { experiment: Experiment }) {
  const { progress } = experiment;
  if (typeof progress !== "number") return null;
  const left = experiment.state === "STATE_RUNNING" ? secondsLeft(progress, experiment.duration) : null;
  return (
    <div className={`${css["row"]} ${css["wide"]}`}>
      <Progress value={progress} label={`Progress of experiment ${experiment.id}`} />
      {left !== null && <span className={css["muted"]}>about {duration(left)} left</span>}
    </div>
  );
}

function bestOf(experiment: Experiment): Fact | null {
  const { bestTrialId, bestTrialSearcherMetric: best } = experiment;
  if (typeof best !== "number" || !bestTrialId) return null;
  const direction = isSmallerBetter(experiment.config) ? "lowest" : "highest";
  return {
    name: `Best ${searcherMetric(experiment.config) ?? "metric"} (${direction})`,
    value: (
      <>
        {metricNumber(best)} in{" "}
        <Link href={`/experiments/${experiment.id}/trials/${bestTrialId}`}>trial {bestTrialId}</Link>
      </>
    ),
  };
}

/** How many trials there are in which state; each count is the total of a page of one. */
function useCounts(experiment: Experiment, isSingle: boolean): (Fact | null)[] {
  const completed = useCount(experiment.id, "STATE_COMPLETED", !isSingle);
  const failed = useCount(experiment.id, "STATE_ERROR", !isSingle);
  const active = useCount(experiment.id, "STATE_ACTIVE", !isSingle);
  if (isSingle) return [];
  const words = `${completed ?? "…"} done, ${active ?? "…"} active, ${failed ?? "…"} failed`;
  return [{ name: `${experiment.numTrials.toLocaleString("en")} trials`, value: words }];
}

function useCount(
  experimentId: number,
  state: "STATE_COMPLETED" | "STATE_ERROR" | "STATE_ACTIVE",
  enabled: boolean,
): number | undefined {
  const answer = useApi(
    "listTrials",
    { path: { experiment_id: experimentId }, query: { states: [state], limit: 1 } },
    { enabled, keepPrevious: true },
  );
  return answer.data?.pagination.total ?? undefined;
}

function factsOf(experiment: Experiment): (Fact | null)[] {
  const source = continuedFrom(experiment.config);
  const restarts = maxRestarts(experiment.config);
  const { forkedFrom } = experiment;
  return [
    { name: experiment.state === "STATE_QUEUED" ? "Submitted" : "Started", value: ago(experiment.startTime) },
    typeof experiment.duration === "number" ? { name: "Duration", value: duration(experiment.duration) } : null,
    { name: "Owner", value: experiment.username },
    experiment.unmanaged ? { name: "Runs", value: "outside of the cluster" } : null,
    experiment.resourcePool && !experiment.unmanaged
      ? {
          name: "Pool",
          value: <Link href={`/resourcepool/${experiment.resourcePool}`}>{experiment.resourcePool}</Link>,
        }
      : null,
    { name: "Searcher", value: experiment.searcherType },
    restarts === null || experiment.unmanaged ? null : { name: "Restarts allowed", value: restarts },
    experiment.checkpointCount
      ? {
          name: "Checkpoints",
          value: `${experiment.checkpointCount}, ${bytes(Number(experiment.checkpointSize ?? 0))}`,
        }
      : null,
    forkedFrom
      ? { name: "Forked from", value: <Link href={`/experiments/${forkedFrom}`}>experiment {forkedFrom}</Link> }
      : null,
    source === null ? null : { name: "Continued from", value: <Link href={`/trials/${source}`}>trial {source}</Link> },
  ];
}

function useDescription(experiment: Experiment): (description: string) => Promise<boolean> {
  const act = useAct();
  const put = (description: string): Promise<unknown> =>
    call("patchExperiment", {
      path: { experiment_id: experiment.id },
      body: { description },
    });
  return (description) =>
    act({
      label: `Changed the description of experiment ${experiment.id}`,
      run: () => put(description),
      undo: () => put(experiment.description ?? ""),
      invalidate: ["getExperiment"],
    });
}
