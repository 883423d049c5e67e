// The state of a delivery; one that failed before and waits says so.
import type { Schemas } from "../../api/schema";
import { StatePill } from "../../ui/StatePill";

type Shown = Pick<Schemas["LastDelivery"], "state" | "attempts">;

export function DeliveryPill({ delivery: { state, attempts } }: { delivery: Shown }) {
  const isAgain = state === "DELIVERY_STATE_PENDING" && attempts > 0;
  return <StatePill state={state} word={isAgain ? "Tries again" : undefined} />;
}
