// The configuration of a task: of a generic one as it was submitted, of others with everything filled in.
import { useMemo } from "react";
import { useApi } from "../../api/useApi";
import { toYaml } from "../../detail/yaml";
import { kindOf, type Task } from "../../task/kinds";
import { CodeEditor } from "../../ui/CodeEditor";
import { ErrorCard } from "../../ui/ErrorCard";
import { Skeleton } from "../../ui/Skeleton";

const OPERATIONS = {
  notebook: "getNotebook",
  shell: "getShell",
  command: "getCommand",
  tensorboard: "getTensorboard",
  generic: "getGenericTaskConfig",
} as const;

export function TaskConfig({ task }: { task: Task }) {
  const kind = kindOf(task.taskType);
  const operation = OPERATIONS[kind === "trial" ? "generic" : kind];
  const answer = useApi(operation, { path: { task_id: task.taskId } });
  const config = answer.data?.config;
  const text = useMemo(
    () => (config === undefined ? "" : toYaml(typeof config === "string" ? parsed(config) : config)),
    [config],
  );
  if (answer.error) return <ErrorCard error={answer.error} onRetry={() => void answer.refetch()} />;
  if (answer.data === undefined) return <Skeleton rows={12} />;
  return <CodeEditor value={text} language="yaml" readOnly label={`Configuration of ${task.name}`} />;
}

/** A generic task tells its configuration as JSON text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
