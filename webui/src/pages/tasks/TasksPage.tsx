// The tasks of a cluster, of every kind, in one list that follows what happens.
import { useMemo, useState } from "react";
import { useLive } from "../../api/live";
import { useSession } from "../../api/session";
import { useApi } from "../../api/useApi";
import { Pager } from "../../detail/WorkloadTable";
import { FORM_KINDS, hasEnded, type Task, TITLES } from "../../task/kinds";
import { useKill } from "../../task/useKill";
import { Button } from "../../ui/Button";
import { CopyCommand } from "../../ui/CopyCommand";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { plural } from "../../ui/format";
import { Menu } from "../../ui/Menu";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/Skeleton";
import { Link, navigate } from "../../url";
import { FilterBar } from "./FilterBar";
import { isNarrowed, PAGE, queryOf } from "./filters";
import { TaskTable } from "./TaskTable";
import css from "./tasks.module.css";
import { type FilterState, useFilters } from "./useFilters";

const NONE: ReadonlySet<string> = new Set();

export default function TasksPage() {
  useLive({ tasks: "all" });
  const state = useFilters();
  const { user } = useSession();
  const query = queryOf(state.filters, user.id ?? 0, state.offset);
  const answer = useApi("searchTasks", { query }, { keepPrevious: true });
  return (
    <Page title="Tasks" actions={<Menu label="New" items={NEW} />}>
      <FilterBar filters={state.filters} change={state.change} />
      {answer.error && <ErrorCard error={answer.error} onRetry={answer.refetch} />}
      {answer.isPending && <Skeleton rows={5} />}
      {answer.data?.tasks.length === 0 && <NoTasks state={state} />}
      {answer.data && answer.data.tasks.length > 0 && <List tasks={answer.data.tasks} />}
      {answer.data && (
        <Pager
          offset={state.offset}
          total={answer.data.pagination.total ?? answer.data.tasks.length}
          page={PAGE}
          onMove={state.setOffset}
        />
      )}
    </Page>
  );
}

const NEW = FORM_KINDS.map((kind) => ({
  id: kind,
  label: TITLES[kind],
  onAction: () => navigate(`/tasks/new/${kind}`),
}));

function List({ tasks }: { tasks: readonly Task[] }) {
  const [marked, setMarked] = useState(NONE);
  const kill = useKill();
  // what has ended or left the page meanwhile is not chosen any more
  const chosen = useMemo(() => tasks.filter((task) => marked.has(task.taskId) && !hasEnded(task)), [tasks, marked]);
  const ids = useMemo(() => new Set(chosen.map(({ taskId }) => taskId)), [chosen]);
  return (
    <>
      {chosen.length > 0 && (
        <section className={css["chosen"]} aria-label="Selected tasks">
          <span>{plural(chosen.length, "task")} selected</span>
          <Button
            kind="danger"
            onPress={() => void kill(chosen).then((isDone) => isDone && setMarked(NONE))}
          >{`Kill ${plural(chosen.length, "task")}…`}</Button>
          <Button onPress={() => setMarked(NONE)}>Select none</Button>
        </section>
      )}
      <TaskTable tasks={tasks} chosen={ids} onChosen={setMarked} />
    </>
  );
}

function NoTasks({ state: { filters, offset, change, clear, setOffset } }: { state: FilterState }) {
  if (offset > 0) {
    return (
      <Empty title="The list ends before this page">
        <Button onPress={() => setOffset(0)}>To the first page</Button>
      </Empty>
    );
  }
  if (isNarrowed(filters)) {
    return (
      <Empty title="No task matches">
        <Button onPress={clear}>Show all</Button>
      </Empty>
    );
  }
  return (
    <Empty title={filters.isOfAll ? "No tasks yet" : "You have no tasks"}>
      <p>
        Notebooks, shells, commands and TensorBoards appear here and stay after their end; trials while they run or
        wait.
      </p>
      <p>
        {FORM_KINDS.map((kind, index) => (
          <span key={kind}>
            {index > 0 && " · "}
            <Link href={`/tasks/new/${kind}`}>New {kind === "tensorboard" ? "TensorBoard" : kind}</Link>
          </span>
        ))}
      </p>
      <CopyCommand text="det notebook start" />
      {!filters.isOfAll && <Button onPress={() => change({ isOfAll: true })}>Show those of all users</Button>}
    </Empty>
  );
}
