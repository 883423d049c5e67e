// Slots free and used per resource pool, and how many jobs wait.
import type { Schemas } from "../../api/schema";
import { useApi } from "../../api/useApi";
import { Card } from "../../ui/Card";
import { ErrorCard } from "../../ui/ErrorCard";
import { plural } from "../../ui/format";
import { Progress } from "../../ui/Progress";
import { Skeleton } from "../../ui/Skeleton";
import { Link } from "../../url";
import css from "./HomePage.module.css";

export function Pools() {
  const pools = useApi("listPools", undefined, { refetchInterval: 60_000 });
  return (
    <Card title="Slots" actions={<Link href="/clusters">Cluster</Link>}>
      {pools.error && <ErrorCard error={pools.error} onRetry={pools.refetch} />}
      {pools.isPending && <Skeleton rows={2} />}
      <ul className={css["list"]}>
        {(pools.data?.resourcePools ?? []).map((pool) => (
          <Pool key={pool.name} pool={pool} />
        ))}
      </ul>
    </Card>
  );
}

function Pool({ pool }: { pool: Schemas["ResourcePool"] }) {
  const { slotsAvailable: total, slotsUsed: used } = pool;
  const queued = pool.stats?.queuedCount ?? 0;
  return (
    <li>
      <div className={css["pool"]}>
        <Link href={`/resourcepool/${encodeURIComponent(pool.name)}`}>{pool.name}</Link>
        <span>
          {pool.slotsFree} of {total} {kindOf(pool)} free
        </span>
      </div>
      <Progress value={total > 0 ? used / total : 0} label={`Slots in use in ${pool.name}`} />
      {queued > 0 && <span className={css["facts"]}>{plural(queued, "job")} waiting</span>}
      {total === 0 && pool.numAgents === 0 && <span className={css["facts"]}>no agent is connected</span>}
    </li>
  );
}

function kindOf(pool: Schemas["ResourcePool"]): string {
  if (pool.slotType === "TYPE_CUDA" || pool.slotType === "TYPE_ROCM") return pool.slotsAvailable === 1 ? "GPU" : "GPUs";
  return pool.slotsAvailable === 1 ? "slot" : "slots";
}
