// Starts a task and goes to its page.
import { useAct } from "../api/useApi";
import { toast } from "../ui/toast";
import { navigate } from "../url";
import { type FormKind, taskPath, WORDS } from "./kinds";
import { type Launch, launchTask } from "./launching";

/** Returns whether it was started. */
export function useLaunch(): (kind: FormKind, launch: Launch) => Promise<boolean> {
  const act = useAct();
  return async (kind, launch) => {
    let launched = { id: "", messages: [] as string[] };
    const isDone = await act({
      label: `Started a ${WORDS[kind]}`,
      run: async () => {
        launched = await launchTask(kind, launch);
      },
      invalidate: ["searchTasks"],
    });
    if (!isDone) return false;
    for (const text of launched.messages) toast({ text });
    navigate(taskPath(launched.id));
    return true;
  };
}
