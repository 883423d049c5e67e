"""Bindings of pools: a workspace may use those bound to it and those bound to none."""

from sqlalchemy import Connection

from determined.errors import InvalidArgument
from determined.master.config import MasterConfig
from determined.master.db.queries import node as nodes
from determined.master.lifecycle.pools import pools_of


def available(conn: Connection, config: MasterConfig, workspace_id: int) -> list[str]:
    """Return the names of the pools that a workspace may use, in the order of the config."""
    bound = nodes.bound_pools(conn)
    return [name for name in pools_of(config) if not bound.get(name) or workspace_id in bound[name]]


def require_available(conn: Connection, config: MasterConfig, pool: str, workspace_id: int) -> None:
    usable = available(conn, config, workspace_id)
    if pool not in usable:
        name = nodes.workspace_name(conn, workspace_id)
        raise InvalidArgument(
            f"resource pool '{pool}' does not exist or is not available to workspace '{name}';"
            f" use one of {', '.join(usable)}"
        )
