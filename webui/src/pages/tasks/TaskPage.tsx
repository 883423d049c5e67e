// The page of one task: what it is, where it runs, its log, its configuration, and its own page one press away.
import { useEffect, useRef } from "react";
import { useActionCommands } from "../../actions/useActionCommands";
import { useLive } from "../../api/live";
import { useSession } from "../../api/session";
import { useApi } from "../../api/useApi";
import { startingText } from "../../detail/starting";
import { LogView } from "../../log/LogView";
import { hasEnded, kindOf, shownState, type Task, TITLES, taskPath } from "../../task/kinds";
import { OpenButton } from "../../task/OpenLink";
import { openingOf } from "../../task/opening";
import { useTaskActions } from "../../task/useTaskActions";
import { TerminalView } from "../../terminal/TerminalView";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { Menu } from "../../ui/Menu";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/Skeleton";
import { TabLinks } from "../../ui/TabLinks";
import { toast } from "../../ui/toast";
import { useShortcut } from "../../ui/useShortcut";
import { Link, navigate } from "../../url";
import { TaskConfig } from "./TaskConfig";
import { TaskFacts } from "./TaskFacts";
import { TrialTerminal } from "./TrialTerminal";

const CRUMBS = [{ label: "Tasks", href: "/tasks" }];

export default function TaskPage({ taskId, tab }: { taskId: string; tab?: string }) {
  const id = decoded(taskId);
  useLive({ tasks: "all" });
  const answer = useApi("searchTasks", { query: { taskIds: [id] } });
  const task = answer.data?.tasks[0];
  if (task) return <Loaded key={id} task={task} tab={tab} />;
  return (
    <Page title={`Task ${id}`} crumbs={CRUMBS}>
      {answer.error && <ErrorCard error={answer.error} onRetry={answer.refetch} />}
      {answer.isPending && <Skeleton rows={8} />}
      {answer.data && (
        <Empty title={`There is no task ${id}`}>
          <Link href="/tasks?all=1">Tasks of all users</Link>
        </Empty>
      )}
    </Page>
  );
}

const TABS = { terminal: "Terminal", logs: "Log", config: "Configuration" } as const;
type Tab = keyof typeof TABS;

function Loaded({ task, tab }: { task: Task; tab: string | undefined }) {
  const { state } = shownState(task);
  const steer = useTaskActions(task);
  const actions = steer.actions.filter(({ id }) => id !== "config");
  useActionCommands(actions, task.name);
  useReadyToast(task);
  useShortcut("l", "Log", () => navigate(taskPath(task.taskId, "logs")));
  const tabs = useTabs(task);
  // whoever waits for a shell gets its terminal when that is there
  const isShell = kindOf(task.taskType) === "shell";
  const first = tabs.find((id) => id === "terminal" && isShell && task.isReady) ?? "logs";
  const current = tabs.find((id) => id === tab) ?? first;
  return (
    <Page
      title={task.name}
      crumbs={CRUMBS}
      state={state}
      stateWord={shownState(task).word}
      actions={
        <>
          <OpenButton task={task} />
          <Menu label="Actions" items={actions} />
        </>
      }
    >
      <TaskFacts task={task} />
      <TabLinks
        label={`Parts of the ${TITLES[kindOf(task.taskType)]}`}
        current={current}
        tabs={tabs.map((id) => ({ id, label: TABS[id], href: taskPath(task.taskId, id) }))}
      />
      {current === "logs" && (
        <LogView source={{ kind: "task", taskId: task.taskId }} emptyText={startingText(task.state)} />
      )}
      {current === "terminal" && <TerminalTab task={task} />}
      {current === "config" && <TaskConfig task={task} />}
      {steer.dialog}
    </Page>
  );
}

/** A terminal is for the owner and administrators, while the task runs; the configuration of a trial is its experiment's. */
function useTabs(task: Task): Tab[] {
  const { permissions } = useSession();
  const kind = kindOf(task.taskType);
  const isRunning = kind === "trial" && task.state === "STATE_RUNNING";
  const hasTerminal = (kind === "shell" || isRunning) && !hasEnded(task) && permissions.mayChange(task.userId);
  return (Object.keys(TABS) as Tab[]).filter((id) =>
    id === "terminal" ? hasTerminal : id === "logs" || kind !== "trial",
  );
}

function TerminalTab({ task }: { task: Task }) {
  if (task.trialId) return <TrialTerminal taskId={task.taskId} trialId={task.trialId} />;
  if (task.isReady) return <TerminalView taskId={task.taskId} name={task.name} />;
  return <Empty title="No terminal yet">{startingText(task.state)} The terminal opens when the shell answers.</Empty>;
}

/** Whoever waits on this page for a notebook or TensorBoard is told when it can be opened. */
function useReadyToast(task: Task): void {
  const { permissions } = useSession();
  const opening = openingOf(task, permissions.mayChange(task.userId));
  const canOpen = opening !== null && opening.refusal === null;
  const couldOpen = useRef(canOpen);
  const href = opening?.href ?? "";
  useEffect(() => {
    if (canOpen && !couldOpen.current) {
      toast({
        text: `${task.name} is ready`,
        action: { label: "Open", run: () => void window.open(href, "_blank", "noopener") },
      });
    }
    couldOpen.current = canOpen;
  }, [canOpen, href, task.name]);
}

/** The router hands the path over as it stands in the address. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
