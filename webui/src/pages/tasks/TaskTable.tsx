// Tasks as rows: what, whose, in which state, where; and what can be done about each.
import { Ellipsis } from "lucide-react";
import { hasEnded, kindOf, logOf, pageOf, shownState, type Task, TITLES } from "../../task/kinds";
import { OpenLink } from "../../task/OpenLink";
import { useMayKill, useTaskActions } from "../../task/useTaskActions";
import { Checkbox } from "../../ui/Checkbox";
import { type Column, DataTable } from "../../ui/DataTable";
import { ago, dateTime } from "../../ui/format";
import { Menu } from "../../ui/Menu";
import { StatePill } from "../../ui/StatePill";
import { Link } from "../../url";
import css from "./tasks.module.css";

export interface TaskTableProps {
  tasks: readonly Task[];
  chosen: ReadonlySet<string>;
  onChosen: (chosen: ReadonlySet<string>) => void;
}

export function TaskTable({ tasks, chosen, onChosen }: TaskTableProps) {
  const mayKill = useMayKill();
  const killable = tasks.filter(mayKill);
  const all = killable.length > 0 && killable.every(({ taskId }) => chosen.has(taskId));
  const select: Column<Task> = {
    key: "select",
    label: (
      <Checkbox
        aria-label="Select all tasks of this page that can be killed"
        isSelected={all}
        isIndeterminate={!all && chosen.size > 0}
        isDisabled={killable.length === 0}
        onChange={(isOn) => onChosen(new Set(isOn ? killable.map(({ taskId }) => taskId) : []))}
      />
    ),
    render: (task) => (
      <Checkbox
        aria-label={`Select ${task.name}`}
        isSelected={chosen.has(task.taskId)}
        isDisabled={!mayKill(task)}
        onChange={(isOn) => onChosen(withOne(chosen, task.taskId, isOn))}
      />
    ),
  };
  return (
    <DataTable
      columns={[select, ...COLUMNS]}
      rows={tasks}
      rowKey={({ taskId }) => taskId}
      caption="Tasks, those that have not ended first"
      hidesCaption
    />
  );
}

function withOne(chosen: ReadonlySet<string>, id: string, isOn: boolean): ReadonlySet<string> {
  const next = new Set(chosen);
  if (isOn) next.add(id);
  else next.delete(id);
  return next;
}

const COLUMNS: Column<Task>[] = [
  { key: "kind", label: "Kind", isMinor: true, render: (task) => TITLES[kindOf(task.taskType)] },
  {
    key: "name",
    label: "Name",
    render: (task) => (
      <Link className={css["name"]} href={pageOf(task)}>
        {task.name}
      </Link>
    ),
  },
  { key: "owner", label: "Owner", isMinor: true, render: (task) => task.displayName || task.username },
  { key: "state", label: "State", render: (task) => <StatePill {...shownState(task)} /> },
  {
    key: "ready",
    label: "Ready",
    isMinor: true,
    render: (task) => <span className={css["whole"]}>{readyWord(task)}</span>,
  },
  {
    key: "pool",
    label: "Pool",
    isMinor: true,
    render: ({ resourcePool }) => <Link href={`/resourcepool/${resourcePool}`}>{resourcePool}</Link>,
  },
  { key: "slots", label: "Slots", align: "right", isMinor: true },
  {
    key: "started",
    label: "Started",
    isMinor: true,
    render: ({ startTime }) => (
      <span className={css["whole"]} title={dateTime(startTime)}>
        {ago(startTime)}
      </span>
    ),
  },
  {
    key: "workspace",
    label: "Workspace",
    isMinor: true,
    render: (task) => <Link href={`/workspaces/${task.workspaceId}`}>{task.workspaceName}</Link>,
  },
  {
    key: "actions",
    label: <span className="visually-hidden">Log and actions</span>,
    align: "right",
    render: (task) => <Actions task={task} />,
  },
];

/** A program that serves nothing is never ready. */
function readyWord(task: Task): string {
  const isServed = ["notebook", "shell", "tensorboard"].includes(kindOf(task.taskType));
  if (!isServed || hasEnded(task)) return "";
  return task.isReady ? "yes" : "not yet";
}

function Actions({ task }: { task: Task }) {
  const { actions, dialog } = useTaskActions(task);
  return (
    <span className={css["actions"]}>
      <OpenLink task={task} />
      <Link href={logOf(task)}>
        Log<span className="visually-hidden"> of {task.name}</span>
      </Link>
      <Menu label={`Actions of ${task.name}`} icon={<Ellipsis size={16} aria-hidden="true" />} items={actions} />
      {dialog}
    </span>
  );
}
