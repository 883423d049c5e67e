// Asks, then ends one task or several.
import { queryClient } from "../api/useApi";
import { plural } from "../ui/format";
import { toast } from "../ui/toast";
import { useConfirm } from "../ui/useConfirm";
import { killedText, killTasks } from "./killing";
import type { Task } from "./kinds";

/** Returns whether they were killed. */
export function useKill(): (tasks: readonly Task[]) => Promise<boolean> {
  const { confirm } = useConfirm();
  return async (tasks) => {
    const [first] = tasks;
    if (first === undefined) return false;
    const isSure = await confirm({
      title: `Kill ${tasks.length === 1 ? first.name : plural(tasks.length, "task")}?`,
      text: `${tasks.length === 1 ? "It ends" : "They end"} at once. What is not saved is lost. This cannot be undone.`,
      verb: "Kill",
      typedCount: tasks.length,
      isDanger: true,
    });
    if (!isSure) return false;
    const killed = await killTasks(tasks);
    const isWhole = killed.failed.length === 0;
    toast({
      text: isWhole && tasks.length === 1 ? `Killed ${first.name}` : killedText(killed),
      kind: isWhole ? "info" : "error",
    });
    await queryClient.invalidateQueries({ queryKey: ["searchTasks"] });
    return true;
  };
}
