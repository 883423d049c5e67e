// What can be done to a task, as items of a menu.
import { type ReactNode, useState } from "react";
import { call } from "../api/client";
import { useSession } from "../api/session";
import { useAct } from "../api/useApi";
import { copyText } from "../ui/clipboard";
import type { MenuAction } from "../ui/Menu";
import { toast } from "../ui/toast";
import { navigate } from "../url";
import { hasEnded, kindOf, type Task, taskPath } from "./kinds";
import { ShareDialog } from "./ShareDialog";
import { useKill } from "./useKill";

export interface TaskActions {
  actions: MenuAction[];
  /** The dialog that an action has opened; render it anywhere. */
  dialog: ReactNode;
}

export function useTaskActions(task: Task): TaskActions {
  const kill = useKill();
  const mayKill = useMayKill();
  const [isSharing, setSharing] = useState(false);
  const share: MenuAction = {
    id: "share",
    label: "Share by a link…",
    isDisabled: !mayKill(task),
    onAction: () => setSharing(true),
  };
  const pause = usePause(task);
  const actions: MenuAction[] = [
    {
      id: "config",
      label: "Configuration",
      // that of a trial is its experiment's
      isDisabled: kindOf(task.taskType) === "trial",
      onAction: () => navigate(taskPath(task.taskId, "config")),
    },
    { id: "copy", label: "Copy the id", onAction: () => void copied(task.taskId) },
    ...(task.serviceAddress ? [share] : []),
    ...(task.taskState ? [pause] : []),
    { id: "kill", label: "Kill…", danger: true, isDisabled: !mayKill(task), onAction: () => void kill([task]) },
  ];
  return { actions, dialog: isSharing ? <ShareDialog task={task} onClose={() => setSharing(false)} /> : null };
}

/** Generic tasks alone can be paused. */
function usePause(task: Task): MenuAction {
  const act = useAct();
  const mayKill = useMayKill();
  const isPaused = task.taskState === "GENERIC_TASK_STATE_PAUSED";
  const path = { task_id: task.taskId };
  const pause = () => call("pauseGenericTask", { path });
  const unpause = () => call("unpauseGenericTask", { path });
  return {
    id: "pause",
    label: isPaused ? "Activate" : "Pause",
    isDisabled: !mayKill(task) || !(isPaused || task.taskState === "GENERIC_TASK_STATE_ACTIVE"),
    onAction: () =>
      void act({
        label: `${isPaused ? "Activated" : "Paused"} ${task.name}`,
        run: isPaused ? unpause : pause,
        invalidate: ["searchTasks"],
      }),
  };
}

/** Its owner and administrators, until it has ended. */
export function useMayKill(): (task: Task) => boolean {
  const { permissions } = useSession();
  return (task) => !hasEnded(task) && permissions.mayChange(task.userId);
}

async function copied(id: string): Promise<void> {
  if (await copyText(id)) toast({ text: `Copied ${id}` });
}
