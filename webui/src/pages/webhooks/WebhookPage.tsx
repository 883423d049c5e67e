// One webhook: when it is called, its address, a test, how an experiment chooses it, and what was sent.
import { useApi } from "../../api/useApi";
import { Facts } from "../../detail/Facts";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/Skeleton";
import { useConfirm } from "../../ui/useConfirm";
import { Link, navigate } from "../../url";
import { AddressCard } from "./AddressCard";
import { Deliveries } from "./Deliveries";
import { TestCard } from "./TestCard";
import { TriggerList } from "./TriggerWords";
import { UseCard } from "./UseCard";
import { useWebhookActions } from "./useWebhookActions";
import { formatOf, isSpecific, reasonOf, titleOf, type Webhook } from "./webhook";
import css from "./webhooks.module.css";

const CRUMBS = [{ label: "Webhooks", href: "/webhooks" }];

export default function WebhookPage({ id }: { id: string }) {
  const found = useApi("listWebhooks", undefined, { refetchInterval: 30_000 });
  const webhook = found.data?.webhooks.find((one) => String(one.id) === id);
  return (
    <Page
      title={webhook ? titleOf(webhook) : `Webhook ${id}`}
      crumbs={CRUMBS}
      actions={webhook && <Actions webhook={webhook} />}
    >
      {found.error && <ErrorCard error={found.error} onRetry={found.refetch} />}
      {found.isPending && <Skeleton rows={6} />}
      {found.data && !webhook && (
        <Empty title={`Webhook ${id} not found`}>
          <p>It was deleted, or it belongs to a workspace of somebody else.</p>
          <Link href="/webhooks">All webhooks</Link>
        </Empty>
      )}
      {webhook && <Body key={id} webhook={webhook} />}
    </Page>
  );
}

function Actions({ webhook }: { webhook: Webhook }) {
  const { confirm } = useConfirm();
  const { deleteWebhook } = useWebhookActions();
  const remove = async () => {
    const isSure = await confirm({
      title: `Delete ${titleOf(webhook)}?`,
      text: "It is not called any more. Its deliveries are removed, also those that wait. This cannot be undone.",
      verb: "Delete",
      isDanger: true,
    });
    if (isSure && (await deleteWebhook(webhook))) navigate("/webhooks", { replace: true });
  };
  return (
    <>
      <Button isDisabled={!webhook.mayChange} onPress={() => navigate(`/webhooks/create?from=${webhook.id}`)}>
        Copy
      </Button>
      <Button kind="danger" isDisabled={!webhook.mayChange} onPress={() => void remove()}>
        Delete
      </Button>
    </>
  );
}

function Body({ webhook }: { webhook: Webhook }) {
  return (
    <div className={css["side"]}>
      {!webhook.mayChange && <p className={css["muted"]}>{reasonOf(webhook)}</p>}
      <Facts
        facts={[
          { name: "Workspace", value: <Place webhook={webhook} /> },
          { name: "Called for", value: isSpecific(webhook) ? "experiments that name it" : "every experiment and task" },
          { name: "Sends", value: formatOf(webhook) },
        ]}
      />
      <div className={css["cards"]}>
        <div className={css["side"]}>
          <Card title="Called when">
            <TriggerList triggers={webhook.triggers ?? []} />
            <p className={css["hint"]}>
              Only the address can be changed. For other triggers make a copy, and delete this one.
            </p>
          </Card>
          <TestCard webhook={webhook} />
        </div>
        <div className={css["side"]}>
          <AddressCard key={webhook.url} webhook={webhook} />
          <UseCard webhook={webhook} />
        </div>
      </div>
      {webhook.mayChange && <Deliveries webhook={webhook} />}
    </div>
  );
}

function Place({ webhook: { workspaceId } }: { webhook: Webhook }) {
  const workspaces = useApi("listWorkspaces", { query: { limit: 1000 } }, { staleTime: 60_000 });
  if (!workspaceId) return "all workspaces";
  const name = workspaces.data?.workspaces.find((one) => one.id === workspaceId)?.name;
  return <Link href={`/workspaces/${workspaceId}`}>{name ?? `Workspace ${workspaceId}`}</Link>;
}
