// Every slot as a square, agent by agent, and the pools with what is free in them.
import { useMemo } from "react";
import { useApi } from "../../api/useApi";
import { Card } from "../../ui/Card";
import { CopyCommand } from "../../ui/CopyCommand";
import { cx } from "../../ui/cx";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { plural } from "../../ui/format";
import { Progress } from "../../ui/Progress";
import { Skeleton } from "../../ui/Skeleton";
import { Link } from "../../url";
import { AgentRow } from "./AgentRow";
import css from "./cluster.module.css";
import type { Pool, QueueRow } from "./queue";
import { countKinds, GLYPHS, type SlotKind, type SlotView, slotsOf, tasksByContainer, WORDS } from "./slots";

export interface OverviewProps {
  /** Null: all pools. */
  pool: Pool | null;
  pools: readonly Pool[];
  /** Null: not known yet. */
  rows: readonly QueueRow[] | null;
}

export function Overview({ pool, pools, rows }: OverviewProps) {
  const agents = useApi("listAgents");
  const tasks = useApi("listTasks");
  const byContainer = useMemo(
    () => (tasks.data ? tasksByContainer(tasks.data.allocationIdToSummary) : null),
    [tasks.data],
  );
  const shown = useMemo(
    () => (agents.data?.agents ?? []).filter((agent) => !pool || (agent.resourcePools ?? []).includes(pool.name)),
    [agents.data, pool],
  );
  const slots = useMemo(() => shown.map((agent) => slotsOf(agent, byContainer)), [shown, byContainer]);
  if (agents.error) return <ErrorCard error={agents.error} onRetry={agents.refetch} />;
  if (!agents.data) return <Skeleton rows={6} />;
  return (
    <>
      {!pool && <Pools pools={pools} />}
      <Card title="Slots">
        <Summary slots={slots.flat()} rows={rows} />
        {shown.length === 0 && <NoAgents />}
        {shown.map((agent, index) => (
          <AgentRow key={agent.id} agent={agent} slots={slots[index] ?? []} />
        ))}
      </Card>
    </>
  );
}

function Summary({ slots, rows }: { slots: readonly SlotView[]; rows: readonly QueueRow[] | null }) {
  const counts = countKinds(slots);
  const kinds = (Object.keys(counts) as SlotKind[]).filter((kind) => counts[kind] > 0 || kind === "free");
  return (
    <p className={css["summary"]}>
      <strong>{plural(slots.length, "slot")}</strong>
      {kinds.map((kind) => (
        <span key={kind} className={css["legend"]}>
          <span className={cx(css["square"], css[kind])} aria-hidden="true">
            {GLYPHS[kind]}
          </span>
          {counts[kind]} {WORDS[kind]}
        </span>
      ))}
      {rows && <Jobs rows={rows} />}
    </p>
  );
}

function Jobs({ rows }: { rows: readonly QueueRow[] }) {
  const waiting = rows.filter((row) => row.isQueued).length;
  return (
    <span>
      {plural(rows.length - waiting, "job")} running, {waiting} waiting
    </span>
  );
}

function Pools({ pools }: { pools: readonly Pool[] }) {
  return (
    <ul className={css["pools"]} aria-label="Resource pools">
      {pools.map((pool) => (
        <li key={pool.name}>
          <div className={css["spread"]}>
            <Link href={`/resourcepool/${encodeURIComponent(pool.name)}`}>{pool.name}</Link>
            <span>
              {pool.slotsFree} of {pool.slotsAvailable} free
            </span>
          </div>
          <Progress
            value={pool.slotsAvailable > 0 ? pool.slotsUsed / pool.slotsAvailable : 0}
            label={`Slots in use in ${pool.name}`}
          />
          <div className={css["muted"]}>
            {plural(pool.numAgents, "agent")} · {plural(pool.stats?.scheduledCount ?? 0, "job")} running,{" "}
            {pool.stats?.queuedCount ?? 0} waiting
          </div>
        </li>
      ))}
    </ul>
  );
}

function NoAgents() {
  return (
    <Empty title="No agent is connected">
      <p>Jobs wait until there is one. On this machine, another node with CPU slots:</p>
      <CopyCommand text="det deploy local agent-up localhost --agent-name second --slots 1" />
    </Empty>
  );
}
