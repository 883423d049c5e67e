// Everything that runs or waits now, of every kind, with its log and how to end it.

import { call } from "../../api/client";
import { useLive } from "../../api/live";
import { useAct, useApi } from "../../api/useApi";
import { Button } from "../../ui/Button";
import { CopyCommand } from "../../ui/CopyCommand";
import { type Column, DataTable } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago, dateTime } from "../../ui/format";
import { Page } from "../../ui/Page";
import { SearchField } from "../../ui/SearchField";
import { Select } from "../../ui/Select";
import { Skeleton } from "../../ui/Skeleton";
import { StatePill } from "../../ui/StatePill";
import { useConfirm } from "../../ui/useConfirm";
import { Link, text, useUrlState } from "../../url";
import { KINDS, matching, rowsOf, type TaskRow } from "./taskRows";
import css from "./tasks.module.css";

export default function TasksPage() {
  useLive({ tasks: "all", jobs: true });
  const [query, setQuery] = useUrlState("q", text, "");
  const [kind, setKind] = useUrlState("kind", text, "");
  const tasks = useApi("listTasks");
  const rows = rowsOf(tasks.data?.allocationIdToSummary);
  const shown = matching(rows, kind === "" ? [] : [kind], query);
  const kinds = [{ id: "", label: "every kind" }, ...KINDS.map((one) => ({ id: one, label: one }))];
  return (
    <Page title="Tasks">
      <div className={css["bar"]}>
        <SearchField label="Find a task by name, user, pool or id" value={query} onChange={setQuery} />
        <Select label="Kind" hidesLabel value={kind} options={kinds} onChange={setKind} />
      </div>
      {tasks.error && <ErrorCard error={tasks.error} onRetry={tasks.refetch} />}
      {tasks.isPending && <Skeleton rows={5} />}
      {tasks.data && rows.length === 0 && <NoTasks />}
      {rows.length > 0 && shown.length === 0 && (
        <Empty title={`None of ${rows.length} tasks matches`}>
          <Button
            onPress={() => {
              setQuery("");
              setKind("");
            }}
          >
            Show all
          </Button>
        </Empty>
      )}
      {shown.length > 0 && <TaskTable rows={shown} />}
    </Page>
  );
}

function TaskTable({ rows }: { rows: readonly TaskRow[] }) {
  return (
    <DataTable
      columns={COLUMNS}
      rows={rows}
      rowKey={(row) => row.key}
      caption="Tasks, the running ones first"
      hidesCaption
    />
  );
}

const COLUMNS: Column<TaskRow>[] = [
  { key: "name", label: "Task", render: (row) => (row.href ? <Link href={row.href}>{row.name}</Link> : row.name) },
  { key: "kind", label: "Kind", isMinor: true },
  { key: "state", label: "State", render: (row) => <StatePill state={row.state} /> },
  { key: "username", label: "User", isMinor: true },
  { key: "slots", label: "Slots", align: "right", isMinor: true },
  { key: "pool", label: "Pool", isMinor: true },
  { key: "agents", label: "On", render: (row) => row.agents.join(", "), isMinor: true },
  {
    key: "since",
    label: "Since",
    isMinor: true,
    render: (row) => <span title={dateTime(row.since)}>{ago(row.since)}</span>,
  },
  {
    key: "logs",
    label: <span className="visually-hidden">Log and actions</span>,
    render: (row) => (
      <span className={css["actions"]}>
        <Link href={row.logs}>
          Log<span className="visually-hidden"> of {row.name}</span>
        </Link>
        {row.trialId !== null && <Kill name={row.name} trialId={row.trialId} />}
      </span>
    ),
  },
];

function Kill({ name, trialId }: { name: string; trialId: number }) {
  const act = useAct();
  const { confirmKill } = useConfirm();
  const kill = async () => {
    if (!(await confirmKill(name))) return;
    await act({
      label: `Killed ${name}`,
      run: () => call("killTrial", { path: { trial_id: trialId } }),
    });
  };
  return (
    <Button kind="danger" aria-label={`Kill ${name}`} onPress={() => void kill()}>
      Kill…
    </Button>
  );
}

function NoTasks() {
  return (
    <Empty title="Nothing runs now">
      <p>Trials, checkpoint clean-up and other work appear here while they run or wait.</p>
      <p>
        <Link href="/experiments/new">New experiment</Link>, or in a terminal:
      </p>
      <CopyCommand text="det experiment create config.yaml ." />
    </Empty>
  );
}
