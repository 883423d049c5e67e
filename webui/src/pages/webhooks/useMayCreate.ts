// Where the reader may create webhooks: in own workspaces, and administrators for the whole cluster.
import type { Schemas } from "../../api/schema";
import { useSession } from "../../api/session";
import { useApi } from "../../api/useApi";

export interface MayCreate {
  /** Null until the workspaces are read. */
  workspaces: readonly Schemas["Workspace"][] | null;
  inCluster: boolean;
  isAllowed: boolean;
  error: unknown;
}

export const REFUSAL = "Owners of a workspace and administrators create webhooks.";

export function useMayCreate(): MayCreate {
  const { permissions } = useSession();
  const found = useApi("listWorkspaces", { query: { archived: false, limit: 1000 } }, { staleTime: 60_000 });
  const workspaces = found.data?.workspaces.filter(({ userId }) => permissions.mayChange(userId)) ?? null;
  const isAllowed = permissions.admin || (workspaces !== null && workspaces.length > 0);
  return { workspaces, inCluster: permissions.admin, isAllowed, error: found.error };
}
