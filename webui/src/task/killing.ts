// Ends tasks, each by the operation of its kind.
import { call } from "../api/client";
import { errorText } from "../ui/errorText";
import { plural } from "../ui/format";
import { kindOf, type Task } from "./kinds";

const OPERATIONS = {
  notebook: "killNotebook",
  shell: "killShell",
  command: "killCommand",
  tensorboard: "killTensorboard",
} as const;

export async function killTask(task: Task): Promise<unknown> {
  const kind = kindOf(task.taskType);
  if (kind === "trial") return await call("killTrial", { path: { trial_id: task.trialId ?? 0 } });
  const path = { task_id: task.taskId };
  return kind === "generic"
    ? await call("killGenericTask", { path, body: {} })
    : await call(OPERATIONS[kind], { path });
}

export interface Killed {
  done: number;
  failed: { name: string; error: string }[];
}

const AT_ONCE = 8;

/** Ends several; one that is refused does not stop the others. */
export async function killTasks(tasks: readonly Task[], kill = killTask): Promise<Killed> {
  const killed: Killed = { done: 0, failed: [] };
  for (let first = 0; first < tasks.length; first += AT_ONCE) {
    await Promise.all(
      tasks.slice(first, first + AT_ONCE).map(async (task) => {
        try {
          await kill(task);
          killed.done += 1;
        } catch (error) {
          killed.failed.push({ name: task.name, error: errorText(error) });
        }
      }),
    );
  }
  return killed;
}

/** "Killed 3 tasks; 1 could not be: sleeper: …". */
export function killedText({ done, failed }: Killed): string {
  const words = `Killed ${plural(done, "task")}`;
  if (failed.length === 0) return words;
  return `${words}; ${failed.length} could not be: ${failed.map(({ name, error }) => `${name}: ${error}`).join("; ")}`;
}
