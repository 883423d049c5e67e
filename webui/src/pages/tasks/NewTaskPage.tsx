// Starts a notebook, shell, command or TensorBoard: a form that is checked as one types, and the command that does the same.
import { useState } from "react";
import { useApi } from "../../api/useApi";
import { FORM_KINDS, type FormKind, isFormKind, TITLES, WORDS } from "../../task/kinds";
import { useLaunch } from "../../task/useLaunch";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { CopyCommand } from "../../ui/CopyCommand";
import { Page } from "../../ui/Page";
import { TabLinks } from "../../ui/TabLinks";
import { int, text, useUrlState } from "../../url";
import { CheckpointNote } from "./CheckpointNote";
import { commandLine } from "./commandLine";
import { configOf, EMPTY, idsOf, isUnstarted, type TaskForm, templateOf } from "./form";
import { TaskFields } from "./TaskFields";
import { TaskPlan } from "./TaskPlan";
import css from "./tasks.module.css";
import { useDryRun } from "./useDryRun";

const CRUMBS = [{ label: "Tasks", href: "/tasks" }];
const WHAT: Record<FormKind, string> = {
  notebook: "JupyterLab on the cluster, opened in a tab of your browser.",
  shell: "A machine to log in to: det shell open, SSH, VS Code.",
  command: "A program that runs once. Its output is its log.",
  tensorboard: "Metrics of experiments and trials in TensorBoard. It follows those that still run.",
};

export default function NewTaskPage({ kind = "notebook" }: { kind?: string }) {
  const known = isFormKind(kind) ? kind : "notebook";
  const [checkpoint] = useUrlState("checkpoint", text, "");
  return <NewTask key={`${known} ${checkpoint}`} kind={known} checkpoint={known === "notebook" ? checkpoint : ""} />;
}

function NewTask({ kind, checkpoint }: { kind: FormKind; checkpoint: string }) {
  const [form, setForm] = useStart();
  const launch = useLaunch();
  const [isSending, setSending] = useState(false);
  const run = useDryRun(kind, form);
  const workspace = useWorkspaceName(form.workspaceId);
  const start = async () => {
    setSending(true);
    const isDone = await launch(kind, {
      config: configOf(kind, form),
      workspaceId: form.workspaceId,
      templateName: templateOf(kind, form),
      ...(kind === "tensorboard"
        ? { experimentIds: idsOf(form.experiments) ?? [], trialIds: idsOf(form.trials) ?? [] }
        : {}),
      ...(checkpoint === "" ? {} : { checkpointUuid: checkpoint }),
    });
    if (!isDone) setSending(false);
  };
  return (
    <Page title={`New ${WORDS[kind]}`} crumbs={CRUMBS}>
      {checkpoint === "" ? <Kinds current={kind} /> : <CheckpointNote uuid={checkpoint} />}
      <div className={css["bench"]}>
        <Card title={TITLES[kind]}>
          <p className={css["muted"]}>{WHAT[kind]}</p>
          <TaskFields
            kind={kind}
            form={form}
            onChange={(next) => setForm({ ...form, ...next })}
            problems={run.problems}
          />
        </Card>
        <div className={css["side"]}>
          <TaskPlan
            run={run}
            isUnstarted={isUnstarted(kind, form)}
            template={form.template}
            action={
              <Button kind="primary" isDisabled={!run.isSound} isPending={isSending} onPress={() => void start()}>
                Start
              </Button>
            }
          />
          <Card title="The same in a terminal">
            <CopyCommand text={commandLine(kind, form, workspace, checkpoint || undefined)} />
          </Card>
        </div>
      </div>
    </Page>
  );
}

/** What the address names: `?experiments=3,7-9&trials=4&workspace=2&template=gpu`. */
function useStart(): [TaskForm, (form: TaskForm) => void] {
  const [experiments] = useUrlState("experiments", text, "");
  const [trials] = useUrlState("trials", text, "");
  const [workspaceId] = useUrlState("workspace", int, EMPTY.workspaceId);
  const [template] = useUrlState("template", text, "");
  return useState<TaskForm>({ ...EMPTY, experiments, trials, workspaceId, template });
}

function Kinds({ current }: { current: FormKind }) {
  const tabs = FORM_KINDS.map((kind) => ({ id: kind, label: TITLES[kind], href: `/tasks/new/${kind}` }));
  return <TabLinks tabs={tabs} current={current} label="Kind of task" />;
}

function useWorkspaceName(id: number): string {
  const workspaces = useApi("listWorkspaces", { query: { archived: false, limit: 1000 } }, { staleTime: 60_000 });
  return workspaces.data?.workspaces.find((one) => one.id === id)?.name ?? String(id);
}
