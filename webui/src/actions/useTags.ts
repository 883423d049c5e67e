// The tags of an experiment, changed as a whole and undone as a whole.

import { call } from "../api/client";
import { useAct } from "../api/useApi";
import { CHANGED, type Experiment } from "./changed";

export function useTags(experiment: Experiment): (tags: string[]) => Promise<boolean> {
  const act = useAct();
  const before = experiment.labels ?? [];
  const put = (labels: string[]): Promise<unknown> =>
    call("patchExperiment", { path: { experiment_id: experiment.id }, body: { labels } });
  return (tags) =>
    act({
      label: `Changed the tags of experiment ${experiment.id}`,
      run: () => put(tags),
      undo: () => put(before),
      invalidate: CHANGED,
    });
}
