// How an experiment chooses a webhook, or does without, and how a script sends alerts: to copy.
import { Card } from "../../ui/Card";
import { CopyCommand } from "../../ui/CopyCommand";
import { ALERT_SNIPPET, choiceSnippet, EXCLUDE_SNIPPET, hasAlerts, isSpecific, type Webhook } from "./webhook";
import css from "./webhooks.module.css";

export function UseCard({ webhook }: { webhook: Webhook }) {
  const place = webhook.workspaceId ? "in its workspace" : "of the cluster";
  return (
    <Card title="In a configuration">
      {isSpecific(webhook) ? (
        <>
          <p className={css["hint"]}>An experiment {place} chooses the webhook:</p>
          <CopyCommand text={choiceSnippet(webhook)} />
        </>
      ) : (
        <>
          <p className={css["hint"]}>Every experiment {place} is told of. One that wants no webhook at all says so:</p>
          <CopyCommand text={EXCLUDE_SNIPPET} />
        </>
      )}
      {hasAlerts(webhook) && (
        <>
          <p className={css["hint"]}>Its script sends an alert:</p>
          <CopyCommand text={ALERT_SNIPPET} />
        </>
      )}
    </Card>
  );
}
