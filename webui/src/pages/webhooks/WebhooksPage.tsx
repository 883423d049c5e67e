// All webhooks: find, filter by workspace, open; how the last delivery of each went.
import { useApi } from "../../api/useApi";
import { WorkspaceSelect } from "../../detail/WorkspaceSelect";
import { Button } from "../../ui/Button";
import { CopyCommand } from "../../ui/CopyCommand";
import { DataTable } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago } from "../../ui/format";
import { Page } from "../../ui/Page";
import { SearchField } from "../../ui/SearchField";
import { Skeleton } from "../../ui/Skeleton";
import { int, Link, navigate, text, useUrlState } from "../../url";
import { DeliveryPill } from "./DeliveryPill";
import { TriggerList } from "./TriggerWords";
import { REFUSAL, useMayCreate } from "./useMayCreate";
import { formatOf, isSpecific, matches, pathOf, titleOf, type Webhook } from "./webhook";
import css from "./webhooks.module.css";

const MOST_TRIGGERS_SHOWN = 3;

export default function WebhooksPage() {
  const [query, setQuery] = useUrlState("q", text, "");
  const [workspace, setWorkspace] = useUrlState("workspace", int, 0);
  const webhooks = useApi("listWebhooks", undefined, { refetchInterval: 30_000 });
  const mayCreate = useMayCreate();
  const rows = (webhooks.data?.webhooks ?? []).filter((row) => matches(row, query, workspace));
  const isFiltered = query !== "" || workspace > 0;
  const create = () => navigate(workspace > 0 ? `/webhooks/create?workspace=${workspace}` : "/webhooks/create");
  return (
    <Page
      title="Webhooks"
      actions={
        <Button kind="primary" isDisabled={!mayCreate.isAllowed} onPress={create}>
          New webhook
        </Button>
      }
    >
      {mayCreate.workspaces !== null && !mayCreate.isAllowed && <p className={css["muted"]}>{REFUSAL}</p>}
      <div className={css["bar"]}>
        <SearchField label="Find a webhook" value={query} onChange={setQuery} />
        <WorkspaceSelect value={workspace} onChange={setWorkspace} none="any workspace" />
      </div>
      {webhooks.error && <ErrorCard error={webhooks.error} onRetry={webhooks.refetch} />}
      {webhooks.isPending && <Skeleton rows={6} />}
      {webhooks.data && rows.length === 0 && (isFiltered ? <NoMatch /> : <NoneYet />)}
      {rows.length > 0 && <WebhookTable webhooks={rows} />}
    </Page>
  );
}

function NoMatch() {
  return (
    <Empty title="No webhook matches">
      <Link href="/webhooks">Show all</Link>
    </Empty>
  );
}

function NoneYet() {
  return (
    <Empty title="No webhooks yet">
      <p>
        The master calls a service of yours, or a channel of Slack, when an experiment ends, a line appears in a log, a
        metric passes a limit, a trial falls silent, or a script sends an alert.
      </p>
      <CopyCommand text="det webhook create https://example.com/hook --on-state ERROR" />
    </Empty>
  );
}

function WebhookTable({ webhooks }: { webhooks: readonly Webhook[] }) {
  const workspaces = useApi("listWorkspaces", { query: { limit: 1000 } }, { staleTime: 60_000 });
  const names = new Map((workspaces.data?.workspaces ?? []).map((one) => [one.id, one.name]));
  const place = ({ workspaceId }: Webhook) => {
    if (!workspaceId) return <em>all workspaces</em>;
    return names.get(workspaceId) ?? (workspaces.isPending ? "" : workspaceId);
  };
  return (
    <DataTable
      caption="Webhooks"
      hidesCaption
      rows={webhooks}
      rowKey={(row) => row.id ?? 0}
      columns={[
        { key: "name", label: "Name", render: (row) => <Name webhook={row} /> },
        { key: "last", label: "Last delivery", render: (row) => <Last webhook={row} /> },
        {
          key: "triggers",
          label: "Called when",
          render: (row) => <TriggerList triggers={row.triggers ?? []} most={MOST_TRIGGERS_SHOWN} />,
        },
        {
          key: "mode",
          label: "For",
          isMinor: true,
          render: (row) => (isSpecific(row) ? "who names it" : "everything"),
        },
        { key: "workspace", label: "Workspace", isMinor: true, render: place },
        { key: "format", label: "Sends", isMinor: true, render: formatOf },
        { key: "url", label: "Address", isMinor: true, render: (row) => <span className={css["url"]}>{row.url}</span> },
      ]}
    />
  );
}

function Name({ webhook }: { webhook: Webhook }) {
  return (
    <Link className={css["name"]} href={pathOf(webhook)}>
      {titleOf(webhook)}
    </Link>
  );
}

function Last({ webhook: { lastDelivery, mayChange } }: { webhook: Webhook }) {
  if (!mayChange) return <span className={css["muted"]}>for its managers</span>;
  if (!lastDelivery) return <span className={css["muted"]}>none yet</span>;
  return (
    <span className={css["last"]}>
      <DeliveryPill delivery={lastDelivery} />
      <span className={css["muted"]}>{ago(lastDelivery.createdAt)}</span>
    </span>
  );
}
