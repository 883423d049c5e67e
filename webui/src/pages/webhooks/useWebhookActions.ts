// What can be done to webhooks. Those that show the master's words beside a field reject with them.
import { call } from "../../api/client";
import type { Schemas } from "../../api/schema";
import { queryClient, useAct } from "../../api/useApi";
import { toast } from "../../ui/toast";
import { titleOf, type Webhook } from "./webhook";

export function useWebhookActions() {
  const act = useAct();
  return {
    createWebhook,
    setUrl,
    testWebhook,
    deleteWebhook: (webhook: Webhook) =>
      act({
        label: `Deleted ${titleOf(webhook)}`,
        run: () => call("deleteWebhook", { path: pathOf(webhook) }),
        invalidate: ["listWebhooks"],
      }),
  };
}

async function createWebhook(body: Webhook): Promise<Webhook> {
  const { webhook } = await call("createWebhook", { body });
  await refresh(`Created ${titleOf(webhook)}`);
  return webhook;
}

async function setUrl(webhook: Webhook, url: string): Promise<void> {
  await call("patchWebhook", { path: pathOf(webhook), body: { url } });
  await refresh(`Changed the address of ${titleOf(webhook)}`);
}

function testWebhook(webhook: Webhook): Promise<Schemas["TestWebhookResponse"]> {
  return call("testWebhook", { path: pathOf(webhook) });
}

function pathOf({ id }: Webhook) {
  return { webhook_id: id ?? 0 };
}

async function refresh(words: string): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ["listWebhooks"] });
  toast({ text: words });
}
