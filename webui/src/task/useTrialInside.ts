// Looks into a running trial: a terminal beside it, and what its processes do right now.
import { call } from "../api/client";
import { useSession } from "../api/session";
import { useAct } from "../api/useApi";
import type { MenuAction } from "../ui/Menu";
import { navigate } from "../url";
import { taskPath } from "./kinds";

export interface RunningTrial {
  trialId: number | undefined;
  /** Of the trial, or of its experiment where that has no other. */
  state: string;
  ownerId: number | null | undefined;
  /** Of its page. */
  path: string;
}

export function useTrialInside({ trialId, state, ownerId, path }: RunningTrial): MenuAction[] {
  const act = useAct();
  const { permissions } = useSession();
  if (trialId === undefined) return [];
  const isDisabled = !["STATE_RUNNING", "STATE_ACTIVE"].includes(state) || !permissions.mayChange(ownerId);
  const openTerminal = async () => {
    const { trial } = await call("getTrial", { path: { trial_id: trialId } });
    navigate(taskPath(trial.taskIds?.at(-1) ?? trial.taskId ?? "", "terminal"));
  };
  const writeStacks = async () => {
    const isDone = await act({
      label: `The log of trial ${trialId} gets the stacks of all its processes`,
      run: () => call("requestStacks", { path: { trial_id: trialId } }),
      invalidate: [],
    });
    if (isDone) navigate(`${path}/logs`);
  };
  return [
    { id: "terminal", label: "Open a terminal", isDisabled, onAction: () => void openTerminal() },
    { id: "stacks", label: "Write all stacks to the log", isDisabled, onAction: () => void writeStacks() },
  ];
}
