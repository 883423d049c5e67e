"""Workspace and resource pool of a submitted task."""

from dataclasses import dataclass

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import InvalidArgument, NotFound
from determined.master.config import MasterConfig
from determined.master.db import fetch
from determined.master.db.queries import workspace as workspaces
from determined.master.db.rows.workspaces import Workspace
from determined.master.services import pool_binding


@dataclass(frozen=True, slots=True)
class TaskPlace:
    workspace_id: int
    pool: str


def require_workspace(conn: Connection, workspace_id: int) -> Workspace:
    """Return the workspace. Raises NotFound."""
    return fetch.existing(workspaces.find(conn, workspace_id), f"workspace '{workspace_id}' not found")


def place_of(conn: Connection, config: MasterConfig, workspace_id: int, raw: JsonObject, slots: int) -> TaskPlace:
    """Resolve the workspace and the pool that a config asks for.

    Args:
        workspace_id: 0 stands for Uncategorized.
        raw: the user's own config.
    """
    workspace = require_workspace(conn, workspace_id or workspaces.DEFAULT_ID)
    if workspace.archived:
        raise NotFound(f"workspace '{workspace_id}' not found: it is archived; unarchive it or choose another one")
    name = _asked_pool(raw) or _default_pool(config, workspace, slots)
    if name not in pool_binding.available(conn, config, workspace.id):
        raise InvalidArgument(
            f"resource pool {name} does not exist or is not available to workspace id {workspace.id};"
            f" use one of {', '.join(pool_binding.available(conn, config, workspace.id))}"
        )
    return TaskPlace(workspace.id, name)


def _asked_pool(raw: JsonObject) -> str | None:
    resources = raw.get("resources")
    pool = resources.get("resource_pool") if isinstance(resources, dict) else None
    return pool if isinstance(pool, str) else None


def _default_pool(config: MasterConfig, workspace: Workspace, slots: int) -> str:
    manager = config.resource_manager
    if slots == 0:
        return workspace.default_aux_pool or manager.default_aux_resource_pool
    return workspace.default_compute_pool or manager.default_compute_resource_pool
