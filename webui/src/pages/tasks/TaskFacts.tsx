// The head of a task's page: owner, place, times, how it ended, what it shows, how to reach it from a terminal.
import { type Fact, Facts } from "../../detail/Facts";
import { hasEnded, kindOf, type Task, TITLES } from "../../task/kinds";
import { QueuedTask } from "../../task/QueuedTask";
import { CopyCommand } from "../../ui/CopyCommand";
import { ago, dateTime, duration, secondsBetween } from "../../ui/format";
import { Link } from "../../url";
import { reachCommand } from "./commandLine";
import css from "./tasks.module.css";

export function TaskFacts({ task }: { task: Task }) {
  const command = hasEnded(task) ? null : reachCommand(task);
  return (
    <div className={css["head"]}>
      <Facts facts={[...placeOf(task), ...timesOf(task), sourcesOf(task)]} />
      {task.hasFailed && <p className={css["failed"]}>{task.exitStatus}</p>}
      <QueuedTask task={task} />
      {command && <CopyCommand text={command} />}
    </div>
  );
}

function placeOf(task: Task): (Fact | null)[] {
  const { experimentId, trialId } = task;
  return [
    { name: "Kind", value: TITLES[kindOf(task.taskType)] },
    experimentId && trialId
      ? { name: "Trial", value: <Link href={`/experiments/${experimentId}/trials/${trialId}`}>{trialId}</Link> }
      : null,
    { name: "Owner", value: task.displayName || task.username },
    { name: "Workspace", value: <Link href={`/workspaces/${task.workspaceId}`}>{task.workspaceName}</Link> },
    { name: "Pool", value: <Link href={`/resourcepool/${task.resourcePool}`}>{task.resourcePool}</Link> },
    { name: "Slots", value: task.slots },
    { name: "Priority", value: task.priority },
  ];
}

function timesOf(task: Task): (Fact | null)[] {
  const { startTime, endTime } = task;
  return [
    { name: "Submitted", value: <span title={dateTime(startTime)}>{ago(startTime)}</span> },
    endTime ? { name: "Ended", value: <span title={dateTime(endTime)}>{ago(endTime)}</span> } : null,
    endTime ? { name: "Duration", value: duration(secondsBetween(startTime, endTime)) } : null,
  ];
}

const MOST_SOURCES = 10;

function sourcesOf({ experimentIds, trialIds }: Task): Fact | null {
  const links = [
    ...(experimentIds ?? []).map((id) => ({ id: `experiment ${id}`, href: `/experiments/${id}` })),
    ...(trialIds ?? []).map((id) => ({ id: `trial ${id}`, href: `/trials/${id}` })),
  ];
  if (links.length === 0) return null;
  const rest = links.length - MOST_SOURCES;
  return {
    name: "Shows",
    value: (
      <>
        {links.slice(0, MOST_SOURCES).map(({ id, href }, index) => (
          <span key={id}>
            {index > 0 && ", "}
            <Link href={href}>{id}</Link>
          </span>
        ))}
        {rest > 0 && ` and ${rest} more`}
      </>
    ),
  };
}
