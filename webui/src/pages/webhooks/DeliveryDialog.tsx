// One delivery: what was sent, where to, and what was answered. All of it is text, whatever it looks like.
import { Facts } from "../../detail/Facts";
import { Dialog } from "../../ui/Dialog";
import { dateTime, jsonText, straight } from "../../ui/format";
import { DeliveryPill } from "./DeliveryPill";
import { type Delivery, eventOf, nextTry, readable } from "./webhook";
import css from "./webhooks.module.css";

export interface DeliveryDialogProps {
  id: number;
  /** Undefined when the table does not show it. */
  delivery: Delivery | undefined;
  onClose: () => void;
}

export function DeliveryDialog({ id, delivery, onClose }: DeliveryDialogProps) {
  return (
    <Dialog title={`Delivery ${id}`} onClose={onClose} isWide>
      {delivery ? (
        <Shown delivery={delivery} />
      ) : (
        <p>It is not among those shown. Finished ones are kept for 7 days.</p>
      )}
    </Dialog>
  );
}

function Shown({ delivery }: { delivery: Delivery }) {
  const { attempts, statusCode, url, error, answer, payload, eventId } = delivery;
  const next = nextTry(delivery);
  return (
    <div className={css["side"]}>
      <Facts
        facts={[
          { name: "State", value: <DeliveryPill delivery={delivery} /> },
          { name: "Event", value: eventOf(delivery.eventType) },
          { name: "Attempts", value: attempts },
          next === "" ? null : { name: "Next try", value: next },
          { name: "Happened", value: dateTime(delivery.createdAt) },
          delivery.finishedAt ? { name: "Ended", value: dateTime(delivery.finishedAt) } : null,
          statusCode ? { name: "Answer", value: statusCode } : null,
          url ? { name: "Sent to", value: <code className={css["url"]}>{url}</code> } : null,
          { name: "event_id", value: <code className={css["url"]}>{eventId}</code> },
        ]}
      />
      {error && <p className={css["refused"]}>✕ {straight(error)}</p>}
      {answer && <Text title="Body of the answer" text={straight(answer)} />}
      <Text title="What is sent" text={jsonText(readable(payload))} />
    </div>
  );
}

function Text({ title, text }: { title: string; text: string }) {
  return (
    <section aria-label={title} className={css["text"]}>
      <h3>{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls, and the keyboard must reach its end */}
      <pre className={css["body"]} tabIndex={0}>
        {text}
      </pre>
    </section>
  );
}
