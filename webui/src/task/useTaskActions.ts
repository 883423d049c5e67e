// What can be done to a task, as items of a menu.
import { useSession } from "../api/session";
import { copyText } from "../ui/clipboard";
import type { MenuAction } from "../ui/Menu";
import { toast } from "../ui/toast";
import { navigate } from "../url";
import { hasEnded, kindOf, type Task, taskPath } from "./kinds";
import { useKill } from "./useKill";

export function useTaskActions(task: Task): MenuAction[] {
  const kill = useKill();
  const mayKill = useMayKill();
  return [
    {
      id: "config",
      label: "Configuration",
      // that of a trial is its experiment's
      isDisabled: kindOf(task.taskType) === "trial",
      onAction: () => navigate(taskPath(task.taskId, "config")),
    },
    { id: "copy", label: "Copy the id", onAction: () => void copied(task.taskId) },
    { id: "kill", label: "Kill…", danger: true, isDisabled: !mayKill(task), onAction: () => void kill([task]) },
  ];
}

/** Its owner and administrators, until it has ended. */
export function useMayKill(): (task: Task) => boolean {
  const { permissions } = useSession();
  return (task) => !hasEnded(task) && permissions.mayChange(task.userId);
}

async function copied(id: string): Promise<void> {
  if (await copyText(id)) toast({ text: `Copied ${id}` });
}
