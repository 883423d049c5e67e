// One template: its text, checked as one types, and where it is used.
import { useState } from "react";
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { CodeEditor } from "../../ui/CodeEditor";
import { CopyCommand } from "../../ui/CopyCommand";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago } from "../../ui/format";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/Skeleton";
import { Link, navigate, text, useUrlState } from "../../url";
import { commandsFor, pathOf } from "./fields";
import { TemplateCheckCard } from "./TemplateCheckCard";
import { TemplateMenu } from "./TemplateMenu";
import css from "./templates.module.css";
import { useTemplateActions } from "./useTemplateActions";
import { useTemplateCheck } from "./useTemplateCheck";

const CRUMBS = [{ label: "Templates", href: "/templates" }];

export default function TemplatePage() {
  const [name] = useUrlState("name", text, "");
  const found = useApi("getTemplate", { path: { template_name: name } });
  const template = found.data?.template;
  const written = useApi(
    "checkTemplate",
    { body: { config: template?.config ?? {} } },
    { enabled: template !== undefined, staleTime: 60_000 },
  );
  const error = found.error ?? written.error;
  const start = written.data?.text;
  return (
    <Page
      title={name}
      crumbs={CRUMBS}
      actions={template && <TemplateMenu key={name} template={template} onGone={leave} />}
    >
      {error && <ErrorCard error={error} onRetry={() => Promise.all([found.refetch(), written.refetch()])} />}
      {!error && (!template || start === undefined) && <Skeleton rows={8} />}
      {template && start !== undefined && <Editor key={name} template={template} start={textOf(start)} />}
    </Page>
  );
}

function Editor({ template, start }: { template: Schemas["Template"]; start: string }) {
  const [saved, setSaved] = useState(start);
  const [draft, setDraft] = useState(start);
  const [isSending, setSending] = useState(false);
  const check = useTemplateCheck(draft);
  const { saveConfig } = useTemplateActions();
  const { name } = template;
  const save = async () => {
    if (!check.config) return;
    setSending(true);
    if (await saveConfig(name, check.config)) setSaved(draft);
    setSending(false);
  };
  const isChanged = draft !== saved;
  return (
    <div className={css["bench"]}>
      <CodeEditor value={draft} language="yaml" label="Template" onChange={setDraft} markers={check.markers} />
      <div className={css["side"]}>
        <TemplateCheckCard check={check} />
        <Button
          kind="primary"
          isDisabled={!isChanged || check.config === null}
          isPending={isSending}
          onPress={() => void save()}
        >
          {isChanged ? "Save" : "Saved"}
        </Button>
        <Use template={template} />
      </div>
    </div>
  );
}

function Use({ template }: { template: Schemas["Template"] }) {
  const { name, updatedAt, username } = template;
  const word = encodeURIComponent(name);
  return (
    <Card title="Use it">
      <div className={css["side"]}>
        <p>
          <Link href={`/experiments/new?template=${word}`}>New experiment</Link>
          {" · "}
          <Link href={`/tasks/new/notebook?template=${word}`}>New notebook</Link>
          {" · "}
          <Link href={`/tasks/new/command?template=${word}`}>New command</Link>
        </p>
        {commandsFor(name).map((command) => (
          <CopyCommand key={command} text={command} />
        ))}
        <p className={css["muted"]}>
          Owned by {username}, changed {ago(updatedAt)}. Experiments and tasks that exist keep what they were started
          with. Secrets are masked here; a mask that stays keeps the secret.
        </p>
      </div>
    </Card>
  );
}

/** An empty mapping is an empty text to write in. */
function textOf(written: string): string {
  return written.trim() === "{}" ? "" : written;
}

function leave(name: string | null): void {
  navigate(name === null ? "/templates" : pathOf(name), { replace: true });
}
