// The address of a webhook, which may be changed, and the key that its requests are signed with.
import { type FormEvent, useState } from "react";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { CopyCommand } from "../../ui/CopyCommand";
import { errorText } from "../../ui/errorText";
import { TextField } from "../../ui/TextField";
import { useWebhookActions } from "./useWebhookActions";
import type { Webhook } from "./webhook";
import css from "./webhooks.module.css";

export function AddressCard({ webhook }: { webhook: Webhook }) {
  return (
    <Card title="Receiver">
      <AddressForm webhook={webhook} />
      <p className={css["hint"]}>
        Each request has the header <code>X-Determined-AI-Signature</code>: the HMAC-SHA256 of{" "}
        <code>X-Determined-AI-Signature-Timestamp</code>, a comma and the body. The key is{" "}
        <code>webhooks.signing_key</code> of the master's config, or else the cluster's own. Administrators read it:
      </p>
      <CopyCommand text="det webhook signing-key" />
    </Card>
  );
}

function AddressForm({ webhook }: { webhook: Webhook }) {
  const [url, setUrl] = useState(webhook.url);
  const [error, setError] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const actions = useWebhookActions();
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (isSending) return;
    setSending(true);
    await actions.setUrl(webhook, url.trim()).catch((failure: unknown) => setError(errorText(failure)));
    setSending(false);
  };
  return (
    <form className={css["side"]} onSubmit={(event) => void save(event)} aria-label="Change the address" noValidate>
      <TextField
        label="Address"
        type="url"
        value={url}
        onChange={(typed) => {
          setUrl(typed);
          setError(null);
        }}
        description="In effect at once, also for deliveries that wait."
        error={error}
        isDisabled={!webhook.mayChange}
        isRequired
      />
      <div>
        <Button
          type="submit"
          isDisabled={!webhook.mayChange || url.trim() === webhook.url || url.trim() === ""}
          isPending={isSending}
        >
          Change
        </Button>
      </div>
    </form>
  );
}
