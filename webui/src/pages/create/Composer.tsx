// The page itself: form and YAML side by side, the plan above them, diff and files in tabs.
import { useState } from "react";
import type { Schemas } from "../../api/schema";
import { useAct } from "../../api/useApi";
import { TemplateSelect } from "../../detail/TemplateSelect";
import { Card } from "../../ui/Card";
import { CodeEditor } from "../../ui/CodeEditor";
import { Diff } from "../../ui/Diff";
import { Empty } from "../../ui/Empty";
import { Page } from "../../ui/Page";
import { toast } from "../../ui/toast";
import { navigate, oneOf, useUrlState } from "../../url";
import { BasicsForm } from "./BasicsForm";
import { ContinueChoice } from "./ContinueChoice";
import css from "./create.module.css";
import { type Code, FilesPanel } from "./FilesPanel";
import { HparamForm } from "./HparamForm";
import { continueSame, create } from "./launch";
import { goingOn, notesFor } from "./notes";
import { PlanCard } from "./PlanCard";
import { ProjectSelect } from "./ProjectSelect";
import { SearchForm } from "./SearchForm";
import { EXAMPLE_CODE, EXAMPLE_CONFIG, type Mode } from "./start";
import { Tabs } from "./Tabs";
import { type Origin, useOrigin } from "./useOrigin";

export interface ComposerProps {
  mode: Mode;
  parent: Schemas["Experiment"] | null;
  trials: readonly Schemas["Trial"][];
}

const TITLES: Record<Mode, string> = {
  new: "New experiment",
  fork: "Fork",
  continue: "Continue",
  hpsearch: "Hyperparameter search",
};

export function Composer({ mode, parent, trials }: ComposerProps) {
  const [code, setCode] = useState<Code | null>(null);
  const origin = useOrigin(mode, parent, trials);
  const { draft, isSame } = origin;
  const launch = useLaunch(origin, parent, code);
  const { object } = draft;
  const notes = origin.isFixed
    ? []
    : notesFor({
        mode,
        object,
        base: isSame ? origin.base : null,
        hasCode: code !== null,
        trialState: origin.trial?.state,
      });
  return (
    <Page title={parent ? `${TITLES[mode]}: ${parent.name}` : TITLES[mode]} crumbs={crumbsOf(parent)}>
      {mode === "continue" && parent && (
        <ContinueChoice
          way={origin.way}
          onWay={origin.setWay}
          trials={trials}
          trialId={origin.trialId}
          onTrial={origin.setTrial}
          isSingle={origin.isSingle}
          refusal={origin.refusal}
        />
      )}
      <PlanCard
        draft={draft}
        verb={isSame ? "Continue" : mode === "hpsearch" ? "Launch search" : "Launch"}
        mayPause={!isSame}
        onLaunch={launch}
        notes={notes}
        template={isSame ? "" : origin.template}
        lead={isSame && origin.trial ? goingOn(origin.trial, object) : undefined}
        instead={
          origin.isFixed ? <p>The trials that did not finish go on; finished ones stay as they are.</p> : undefined
        }
      />
      {!origin.isFixed && <Workbench mode={mode} parent={parent} origin={origin} code={code} onCode={setCode} />}
    </Page>
  );
}

interface WorkbenchProps {
  mode: Mode;
  parent: Schemas["Experiment"] | null;
  origin: Origin;
  code: Code | null;
  onCode: (code: Code | null) => void;
}

const VIEWS = oneOf("yaml", "diff", "files");

function Workbench({ mode, parent, origin, code, onCode }: WorkbenchProps) {
  const [view, setView] = useUrlState("view", VIEWS, "yaml");
  const { draft } = origin;
  const tabs = [
    { id: "yaml" as const, label: "Configuration" },
    ...(parent ? [{ id: "diff" as const, label: "Changes" }] : []),
    ...(origin.isSame ? [] : [{ id: "files" as const, label: code ? `Files (${code.files.length})` : "Files" }]),
  ];
  const example = () => {
    draft.setText(EXAMPLE_CONFIG);
    onCode({
      files: [{ path: "train.py", content: new TextEncoder().encode(EXAMPLE_CODE), modified: Date.now() }],
      ignored: 0,
    });
  };
  return (
    <div className={css["bench"]}>
      <Form origin={origin} />
      <div className={css["side"]}>
        <Tabs label="What to look at" tabs={tabs} current={view} onChange={setView}>
          {view === "yaml" && (
            <CodeEditor
              value={draft.text}
              language="yaml"
              label="Configuration"
              onChange={draft.setText}
              markers={origin.markers}
            />
          )}
          {view === "diff" && parent && (
            <Diff
              before={origin.parentText}
              after={draft.text}
              beforeName={`experiment ${parent.id}`}
              afterName="this draft"
            />
          )}
          {view === "files" && (
            <FilesPanel
              code={code}
              onChange={onCode}
              parentId={mode === "new" ? null : (parent?.id ?? null)}
              onConfig={(text) => {
                draft.setText(text);
                setView("yaml");
              }}
              onExample={example}
            />
          )}
        </Tabs>
      </div>
    </div>
  );
}

function Form({ origin }: { origin: Origin }) {
  const { draft, isSame } = origin;
  const { object } = draft;
  if (object === null) {
    return (
      <Card title="Form">
        <Empty title={draft.answer ? "The text cannot be read" : "Reading the configuration…"}>
          {draft.answer && "Mend it at the marked line; the form then follows."}
        </Empty>
      </Card>
    );
  }
  return (
    <div className={css["form"]}>
      {!isSame && (
        <Card title="Where">
          <ProjectSelect projectId={origin.projectId} onChange={origin.setProject} />
          <TemplateSelect value={origin.template} onChange={origin.setTemplate} />
        </Card>
      )}
      <BasicsForm object={object} effective={draft.answer?.config ?? null} onEdit={draft.edit} />
      <SearchForm object={object} onEdit={draft.edit} keepsMethod={isSame} />
      <HparamForm object={object} onEdit={draft.edit} />
    </div>
  );
}

function useLaunch(origin: Origin, parent: Schemas["Experiment"] | null, code: Code | null) {
  const act = useAct();
  const { draft, isSame, isFixed, base, projectId, template } = origin;
  return async (activate: boolean): Promise<boolean> => {
    let launched = { id: 0, messages: [] as string[] };
    const isDone = await act({
      label: isSame ? `Continuing experiment ${parent?.id}` : activate ? "Launched" : "Created, paused",
      run: async () => {
        launched = isSame
          ? await continueSame(parent?.id ?? 0, isFixed ? null : base, isFixed ? null : draft.object)
          : await create({ text: draft.text, projectId, parentId: parent?.id ?? null, template, code, activate });
      },
    });
    if (!isDone) return false;
    for (const text of launched.messages) toast({ text });
    navigate(`/experiments/${launched.id}`);
    return true;
  };
}

function crumbsOf(parent: Schemas["Experiment"] | null) {
  if (!parent) return [];
  return [
    { label: parent.workspaceName ?? "Workspace", href: `/workspaces/${parent.workspaceId ?? 1}` },
    { label: parent.projectName ?? "Project", href: `/projects/${parent.projectId}` },
    { label: `Experiment ${parent.id}`, href: `/experiments/${parent.id}` },
  ];
}
