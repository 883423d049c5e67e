"""Rows about nodes: enabled, disabled, draining; nodes added by hand; which workspaces a pool is bound to."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, select

from determined.master.db import fetch
from determined.master.db.dialects import upsert
from determined.master.db.prepared import prepare
from determined.master.db.rows.cluster import LocalNode, LocalNodeValues, NodeOverride, NodeOverrideValues
from determined.master.db.rows.workspaces import PoolBindingValues
from determined.master.db.schema import local_nodes, node_overrides, pool_bindings, workspaces

WHOLE_NODE = -1
_OVERRIDES = prepare(select(node_overrides))  # every scheduling pass asks it


def overrides(conn: Connection) -> list[NodeOverride]:
    return fetch.rows(conn, _OVERRIDES, NodeOverride)


def put_override(conn: Connection, node_id: str, slot_id: int, *, enabled: bool, draining: bool) -> None:
    values: NodeOverrideValues = {"node_id": node_id, "slot_id": slot_id, "enabled": enabled, "draining": draining}
    upsert(conn, node_overrides, values, ["node_id", "slot_id"])


def drop_override(conn: Connection, node_id: str, slot_id: int) -> None:
    conn.execute(delete(node_overrides).where(node_overrides.c.node_id == node_id, node_overrides.c.slot_id == slot_id))


def drop_overrides(conn: Connection, node_id: str) -> None:
    conn.execute(delete(node_overrides).where(node_overrides.c.node_id == node_id))


def added(conn: Connection) -> list[LocalNode]:
    return fetch.rows(conn, select(local_nodes).order_by(local_nodes.c.created_at), LocalNode)


def add(conn: Connection, now: datetime, node_id: str, pool: str, slots: int) -> None:
    values: LocalNodeValues = {"node_id": node_id, "pool": pool, "slots": slots, "created_at": now}
    upsert(conn, local_nodes, values, ["node_id"])


def remove(conn: Connection, node_id: str) -> None:
    conn.execute(delete(local_nodes).where(local_nodes.c.node_id == node_id))


def bound_workspaces(conn: Connection, pool: str) -> Sequence[int]:
    statement = select(pool_bindings.c.workspace_id).where(pool_bindings.c.pool == pool)
    return conn.execute(statement.order_by(pool_bindings.c.workspace_id)).scalars().all()


def bound_pools(conn: Connection) -> dict[str, set[int]]:
    """Return the ids of the workspaces that each bound pool is bound to."""
    bindings: dict[str, set[int]] = {}
    for pool, workspace_id in conn.execute(select(pool_bindings.c.pool, pool_bindings.c.workspace_id)):
        bindings.setdefault(pool, set()).add(workspace_id)
    return bindings


def bind(conn: Connection, pool: str, workspace_ids: Sequence[int]) -> None:
    rows: list[PoolBindingValues] = [{"pool": pool, "workspace_id": w} for w in workspace_ids]
    upsert(conn, pool_bindings, rows, ["pool", "workspace_id"])


def unbind(conn: Connection, pool: str, workspace_ids: Sequence[int] | None) -> None:
    """Unbind a pool from these workspaces; from all for None."""
    statement = delete(pool_bindings).where(pool_bindings.c.pool == pool)
    if workspace_ids is not None:
        statement = statement.where(pool_bindings.c.workspace_id.in_(list(workspace_ids)))
    conn.execute(statement)


def workspace_ids_by_name(conn: Connection, names: Sequence[str]) -> dict[str, int]:
    statement = select(workspaces.c.name, workspaces.c.id).where(workspaces.c.name.in_(list(names)))
    return dict(conn.execute(statement).all())


def existing_workspaces(conn: Connection, ids: Sequence[int]) -> set[int]:
    statement = select(workspaces.c.id).where(workspaces.c.id.in_(list(ids)))
    return set(conn.execute(statement).scalars())


def workspace_name(conn: Connection, workspace_id: int) -> str | None:
    return conn.execute(select(workspaces.c.name).where(workspaces.c.id == workspace_id)).scalar_one_or_none()
