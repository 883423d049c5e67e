// The log of one task of any kind.
import { useLive } from "../../api/live";
import { useApi } from "../../api/useApi";
import { LogView } from "../../log/LogView";
import { ErrorCard } from "../../ui/ErrorCard";
import { Page } from "../../ui/Page";
import { kindOf } from "./taskRows";

export default function TaskLogsPage({ taskId }: { type: string; taskId: string }) {
  const id = decoded(taskId);
  useLive({ tasks: "all" });
  const task = useApi("getTask", { path: { task_id: id } });
  const latest = task.data?.task.allocations.at(-1);
  const kind = kindOf(task.data?.task.taskType);
  const title = kind === "other" ? `Task ${id}` : `Log of ${kind} ${id}`;
  return (
    <Page title={title} crumbs={[{ label: "Tasks", href: "/tasks" }]} state={latest?.state}>
      {task.error ? (
        <ErrorCard error={task.error} onRetry={task.refetch} />
      ) : (
        <LogView source={{ kind: "task", taskId: id }} />
      )}
    </Page>
  );
}

/** The router hands the path over as it stands in the address. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
