// What was sent to a receiver and what waits, the newest first; one of them is opened by the address.
import { useState } from "react";
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import { Pager } from "../../detail/WorkloadTable";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Card";
import { DataTable } from "../../ui/DataTable";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { ago } from "../../ui/format";
import { Select } from "../../ui/Select";
import { Skeleton } from "../../ui/Skeleton";
import { int, oneOf, useUrlState } from "../../url";
import { DeliveryDialog } from "./DeliveryDialog";
import { DeliveryPill } from "./DeliveryPill";
import { answerOf, type Delivery, eventOf, nextTry, type Webhook } from "./webhook";
import css from "./webhooks.module.css";

type State = Schemas["DeliveryState"];

const PAGE = 20;
const WAITING: State[] = ["DELIVERY_STATE_PENDING", "DELIVERY_STATE_SENDING"];
const FILTERS: readonly { id: string; label: string; states: State[] }[] = [
  { id: "all", label: "all", states: [] },
  { id: "waiting", label: "those that wait", states: WAITING },
  { id: "delivered", label: "delivered", states: ["DELIVERY_STATE_DELIVERED"] },
  { id: "failed", label: "failed", states: ["DELIVERY_STATE_FAILED"] },
];
const FILTER = oneOf(...FILTERS.map((one) => one.id));
const SOON_MS = 2_000; // while something waits
const LATER_MS = 10_000;

export function Deliveries({ webhook }: { webhook: Webhook }) {
  const [filter, setFilter] = useUrlState("state", FILTER, "all");
  const [offset, setOffset] = useUrlState("offset", int, 0);
  const [opened, setOpened] = useUrlState("delivery", int, 0);
  const [pause, setPause] = useState(LATER_MS);
  const states = FILTERS.find((one) => one.id === filter)?.states ?? [];
  const found = useApi(
    "listWebhookDeliveries",
    { path: { webhook_id: webhook.id ?? 0 }, query: { limit: PAGE, offset, states } },
    { keepPrevious: true, refetchInterval: pause },
  );
  const rows = found.data?.deliveries ?? [];
  const nextPause = rows.some((row) => WAITING.includes(row.state)) ? SOON_MS : LATER_MS;
  if (pause !== nextPause) setPause(nextPause);
  return (
    <Card title="Deliveries">
      <div className={css["bar"]}>
        <Select
          label="Show"
          value={filter}
          options={FILTERS}
          onChange={(id) => {
            setOffset(0);
            setFilter(id);
          }}
        />
      </div>
      {found.error && <ErrorCard error={found.error} onRetry={found.refetch} />}
      {found.isPending && <Skeleton rows={4} />}
      {found.data && rows.length === 0 && <None isFiltered={filter !== "all" || offset > 0} />}
      {rows.length > 0 && <Rows deliveries={rows} onOpen={(id) => setOpened(id, "push")} />}
      {found.data && (
        <Pager offset={offset} total={found.data.pagination.total ?? rows.length} page={PAGE} onMove={setOffset} />
      )}
      {found.data && opened > 0 && (
        <DeliveryDialog
          id={opened}
          delivery={rows.find((one) => one.id === opened)}
          onClose={() => setOpened(0, "replace")}
        />
      )}
    </Card>
  );
}

function None({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No such deliveries" />;
  return <Empty title="Nothing was sent yet">Each event that a trigger finds is listed here, with its answer.</Empty>;
}

interface RowsProps {
  deliveries: readonly Delivery[];
  onOpen: (id: number) => void;
}

function Rows({ deliveries, onOpen }: RowsProps) {
  return (
    <DataTable
      caption="Deliveries"
      hidesCaption
      rows={deliveries}
      rowKey={(row) => row.id}
      columns={[
        { key: "state", label: "State", render: (row) => <DeliveryPill delivery={row} /> },
        { key: "event", label: "Event", render: (row) => eventOf(row.eventType) },
        { key: "answer", label: "Answer", render: answerOf },
        { key: "attempts", label: "Attempts", align: "right", isMinor: true },
        { key: "next", label: "Next try", isMinor: true, render: (row) => nextTry(row) },
        { key: "created", label: "Happened", isMinor: true, render: (row) => ago(row.createdAt) },
        {
          key: "act",
          label: <span className="visually-hidden">Actions</span>,
          align: "right",
          render: (row) => (
            <Button onPress={() => onOpen(row.id)} aria-label={`Show delivery ${row.id}`}>
              Show
            </Button>
          ),
        },
      ]}
    />
  );
}
