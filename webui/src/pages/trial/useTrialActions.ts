// What can be done to a trial: kill it alone, and what its experiment offers with this trial as the start.

import { CHANGED } from "../../actions/changed";
import { isEnded } from "../../actions/verbs";
import { call } from "../../api/client";
import { useAct } from "../../api/useApi";
import type { Experiment, Trial } from "../../detail/types";
import { useLaunch } from "../../task/useLaunch";
import { useTrialInside } from "../../task/useTrialInside";
import type { MenuAction } from "../../ui/Menu";
import { useConfirm } from "../../ui/useConfirm";

const FROM_EXPERIMENT = new Set(["fork", "continue", "hpsearch"]);

export function useTrialActions(
  trial: Trial,
  ofExperiment: readonly MenuAction[],
  { userId, workspaceId }: Experiment,
): MenuAction[] {
  const act = useAct();
  const { confirmKill } = useConfirm();
  const launch = useLaunch();
  const path = `/experiments/${trial.experimentId}/trials/${trial.id}`;
  const inside = useTrialInside({ trialId: trial.id, state: trial.state, ownerId: userId, path });
  const kill = async (): Promise<void> => {
    if (!(await confirmKill(`trial ${trial.id}`))) return;
    await act({
      label: `Killed: trial ${trial.id}`,
      run: () => call("killTrial", { path: { trial_id: trial.id } }),
      invalidate: CHANGED,
    });
  };
  const workspace = workspaceId ? { workspaceId } : {};
  return [
    ...ofExperiment.filter((action) => FROM_EXPERIMENT.has(action.id)),
    ...inside,
    {
      id: "tensorboard",
      label: "Open in TensorBoard",
      onAction: () => void launch("tensorboard", { config: {}, trialIds: [trial.id], ...workspace }),
    },
    { id: "kill", label: "Kill…", onAction: () => void kill(), isDisabled: isEnded(trial.state), danger: true },
  ];
}
