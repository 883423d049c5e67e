// Sends a test event and shows what the receiver answers.
import { useState } from "react";
import type { Schemas } from "../../api/schema";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { errorText } from "../../ui/errorText";
import { straight } from "../../ui/format";
import { useWebhookActions } from "./useWebhookActions";
import type { Webhook } from "./webhook";
import css from "./webhooks.module.css";

type Outcome = { answer: Schemas["TestWebhookResponse"] } | { error: string };

export function TestCard({ webhook }: { webhook: Webhook }) {
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [isSending, setSending] = useState(false);
  const { testWebhook } = useWebhookActions();
  const send = async () => {
    setSending(true);
    setOutcome(null);
    setOutcome(
      await testWebhook(webhook).then(
        (answer) => ({ answer }),
        (failure: unknown) => ({ error: errorText(failure) }),
      ),
    );
    setSending(false);
  };
  return (
    <Card title="Test">
      <p className={css["hint"]}>
        Sends an event of no experiment and waits up to 10 s for the answer. It is not listed with the deliveries.
      </p>
      <div>
        <Button isDisabled={!webhook.mayChange} isPending={isSending} onPress={() => void send()}>
          Send a test
        </Button>
      </div>
      <div aria-live="polite" className={css["side"]}>
        {isSending && <p>Waiting for the answer…</p>}
        {outcome && <Shown outcome={outcome} />}
      </div>
    </Card>
  );
}

function Shown({ outcome }: { outcome: Outcome }) {
  if ("error" in outcome) return <p className={css["refused"]}>✕ {straight(outcome.error)}</p>;
  const { statusCode, answer } = outcome.answer;
  return (
    <>
      <p className={css["sound"]}>✓ The receiver answers {statusCode}.</p>
      {answer && (
        <section aria-label="Answer of the receiver">
          <pre className={css["body"]}>{straight(answer)}</pre>
        </section>
      )}
    </>
  );
}
