// The resource pools that experiments of a workspace may use.
import { useApi } from "../../api/useApi";
import { Card } from "../../ui/Card";
import { Empty } from "../../ui/Empty";
import { ErrorCard } from "../../ui/ErrorCard";
import { Skeleton } from "../../ui/Skeleton";
import { Link } from "../../url";

export function WorkspacePools({ workspaceId }: { workspaceId: number }) {
  const pools = useApi("listWorkspacePools", {
    path: { workspace_id: workspaceId },
  });
  const names = pools.data?.resourcePools ?? [];
  return (
    <Card title="Resource pools">
      {pools.error && <ErrorCard error={pools.error} onRetry={pools.refetch} />}
      {pools.isPending && <Skeleton rows={3} />}
      {pools.data && names.length === 0 && <Empty title="This workspace may use no pool" />}
      <ul>
        {names.map((name) => (
          <li key={name}>
            <Link href={`/resourcepool/${encodeURIComponent(name)}`}>{name}</Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}
