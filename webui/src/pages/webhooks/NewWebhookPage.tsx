// A new webhook: where it sends to, for what, and when. `?workspace=3` chooses the workspace, `?from=7` copies a webhook.
import { type FormEvent, useEffect, useRef, useState } from "react";
import { useApi } from "../../api/useApi";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/Skeleton";
import { int, navigate, useUrlState } from "../../url";
import { bodyOf, emptyForm, formOf, type Refusal, refusalOf, type WebhookForm } from "./form";
import { TriggersField } from "./TriggersField";
import { type MayCreate, REFUSAL, useMayCreate } from "./useMayCreate";
import { useWebhookActions } from "./useWebhookActions";
import { WebhookFields } from "./WebhookFields";
import { pathOf } from "./webhook";
import css from "./webhooks.module.css";

const CRUMBS = [{ label: "Webhooks", href: "/webhooks" }];
/** What stands beside a field of the form; the rest is said above the button. */
const PLACED = /^(name|url|triggers\[\d+\].*)$/;

export default function NewWebhookPage() {
  const [from] = useUrlState("from", int, 0);
  const [workspace] = useUrlState("workspace", int, 0);
  const mayCreate = useMayCreate();
  const webhooks = useApi("listWebhooks", undefined, { enabled: from > 0 });
  const origin = webhooks.data?.webhooks.find((one) => one.id === from);
  const error = mayCreate.error ?? webhooks.error;
  const isReady = mayCreate.workspaces !== null && (from === 0 || webhooks.data !== undefined);
  return (
    <Page title="New webhook" crumbs={CRUMBS}>
      {error ? <ErrorCard error={error} /> : null}
      {!error && !isReady && <Skeleton rows={8} />}
      {isReady && !mayCreate.isAllowed && <Empty title="You may not create webhooks">{REFUSAL}</Empty>}
      {isReady && mayCreate.isAllowed && (
        <Editor
          key={`${from} ${workspace}`}
          start={origin ? formOf(origin) : emptyForm(startOf(workspace, mayCreate))}
          mayCreate={mayCreate}
        />
      )}
    </Page>
  );
}

function Editor({ start, mayCreate }: { start: WebhookForm; mayCreate: MayCreate }) {
  const [form, setForm] = useState(start);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isSending, setSending] = useState(false);
  const { createWebhook } = useWebhookActions();
  const shown = useFocusOn(refusal);
  const change = (next: Partial<WebhookForm>) => {
    setForm({ ...form, ...next });
    setRefusal(null);
  };
  const create = async (event: FormEvent) => {
    event.preventDefault();
    if (isSending) return;
    setSending(true);
    try {
      navigate(pathOf(await createWebhook(bodyOf(form))));
    } catch (failure) {
      setRefusal(refusalOf(failure));
      setSending(false);
    }
  };
  return (
    <form
      ref={shown}
      className={css["bench"]}
      onSubmit={(event) => void create(event)}
      aria-label="New webhook"
      noValidate
    >
      <Card title="Receiver">
        <WebhookFields form={form} onChange={change} refusal={refusal} mayCreate={mayCreate} />
      </Card>
      <div className={css["side"]}>
        <TriggersField triggers={form.triggers} onChange={(triggers) => change({ triggers })} refusal={refusal} />
        {refusal && !PLACED.test(refusal.field) && <ErrorCard error={new Error(refusal.words)} />}
        <div>
          <Button kind="primary" type="submit" isDisabled={form.url.trim() === ""} isPending={isSending}>
            Create
          </Button>
        </div>
      </div>
    </form>
  );
}

/** Leads the keyboard to the field that was refused. */
function useFocusOn(refusal: Refusal | null) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (refusal) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [refusal]);
  return form;
}

/** The workspace of the address where that is allowed, else the whole cluster, else the first one. */
function startOf(workspace: number, { workspaces, inCluster }: MayCreate): number {
  if (workspaces?.some(({ id }) => id === workspace)) return workspace;
  return inCluster ? 0 : (workspaces?.[0]?.id ?? 0);
}
