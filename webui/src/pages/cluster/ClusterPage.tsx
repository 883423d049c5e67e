// The cluster and one pool of it: slots, agents, the queue, the pool's settings, the master's log.
import { useLive } from "../../api/live";
import { useSession } from "../../api/session";
import { useApi } from "../../api/useApi";
import { LogView } from "../../log/LogView";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { Page } from "../../ui/Page";
import { Skeleton } from "../../ui/Skeleton";
import { TabLinks } from "../../ui/TabLinks";
import { Link } from "../../url";
import { Overview } from "./Overview";
import { PoolConfiguration } from "./PoolConfiguration";
import { Queue } from "./Queue";
import { type QueueRow, rowsOf } from "./queue";

const LIMIT = 1000;

// upstream's names of the tabs of a pool
const OLDER: Record<string, string> = { active: "queue", queued: "queue", stats: "queue", bindings: "configuration" };

export default function ClusterPage({ pool, tab: asked = "overview" }: { pool?: string; tab?: string }) {
  const { permissions } = useSession();
  useLive({ agents: true, jobs: true, tasks: "all" });
  const pools = useApi("listPools");
  const jobs = useApi("listJobsV2", {
    query: { limit: LIMIT, ...(pool ? { resourcePool: pool } : {}) },
  });
  const known = pools.data?.resourcePools ?? [];
  const rows = rowsOf(jobs.data?.jobs ?? [], known);
  const tabs = tabsOf(pool, jobs.data ? countOf(rows) : undefined, permissions.admin);
  const tab = tabs.find(({ id }) => id === (OLDER[asked] ?? asked))?.id ?? "overview";
  const one = known.find(({ name }) => name === pool);
  const crumbs = pool ? [{ label: "Cluster", href: "/clusters" }] : [];
  return (
    <Page title={pool ? `Pool ${pool}` : "Cluster"} crumbs={crumbs}>
      <TabLinks tabs={tabs} current={tab} label={pool ? `Parts of pool ${pool}` : "Parts of the cluster"} />
      {pools.error && <ErrorCard error={pools.error} onRetry={pools.refetch} />}
      {jobs.error && <ErrorCard error={jobs.error} onRetry={jobs.refetch} />}
      {pool && pools.data && !one && <NoPool name={pool} />}
      {tab === "logs" && !pool && <LogView source={{ kind: "master" }} />}
      {tab === "queue" &&
        (jobs.data ? (
          <Queue rows={rows} pools={known} total={jobs.data.pagination.total ?? rows.length} />
        ) : (
          <Skeleton rows={6} />
        ))}
      {tab === "configuration" && one && <PoolConfiguration pool={one} />}
      {tab === "overview" && (pool === undefined || one) && (
        <Overview pool={one ?? null} pools={known} rows={jobs.data ? rows : null} />
      )}
    </Page>
  );
}

function NoPool({ name }: { name: string }) {
  return (
    <Empty title={`There is no pool "${name}"`}>
      <Link href="/clusters">All pools of the cluster</Link>
    </Empty>
  );
}

function countOf(rows: readonly QueueRow[]): string | number {
  const waiting = rows.filter((row) => row.isQueued).length;
  return waiting > 0 ? `${rows.length}, ${waiting} waiting` : rows.length;
}

function tabsOf(pool: string | undefined, count: string | number | undefined, isAdmin: boolean) {
  if (pool === undefined) {
    return [
      { id: "overview", label: "Slots", href: "/clusters" },
      { id: "queue", label: "Queue", href: "/clusters/queue", count },
      ...(isAdmin ? [{ id: "logs", label: "Master log", href: "/clusters/logs" }] : []),
      { id: "usage", label: "Usage", href: "/clusters/historical-usage" },
    ];
  }
  const base = `/resourcepool/${encodeURIComponent(pool)}`;
  return [
    { id: "overview", label: "Slots", href: base },
    { id: "queue", label: "Queue", href: `${base}/queue`, count },
    { id: "configuration", label: "Configuration", href: `${base}/configuration` },
  ];
}
