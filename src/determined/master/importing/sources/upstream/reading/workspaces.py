"""Upstream's workspaces and projects with pins, views and bindings."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from determined._json import JsonObject
from determined.master.importing.sources.upstream.source import Source


class WorkspaceRow(msgspec.Struct, frozen=True):
    id: int
    name: str
    archived: bool
    created_at: datetime
    user_id: int
    immutable: bool
    state: str | None
    agent_uid: int | None
    agent_user: str | None
    agent_gid: int | None
    agent_group: str | None
    checkpoint_storage: JsonObject | None
    default_compute_pool: str | None
    default_aux_pool: str | None


class ProjectRow(msgspec.Struct, frozen=True):
    id: int
    name: str
    description: str | None
    archived: bool
    created_at: datetime
    notes: object  # JSON
    workspace_id: int
    user_id: int
    immutable: bool
    state: str | None
    key: str | None


_POOLS = ("compute", "aux")
_WORKSPACES = """
SELECT id, name, archived, created_at, user_id, immutable, state::text, uid, user_, gid, group_,
       checkpoint_storage_config, {compute}, {aux}
FROM workspaces WHERE id = ANY(%(ids)s) ORDER BY id
"""
_PROJECTS = """
SELECT id, name, description, archived, created_at, notes, workspace_id, user_id, immutable, state::text, {key}
FROM projects WHERE id = ANY(%(ids)s) ORDER BY id
"""


def names(source: Source) -> dict[str, int]:
    return {str(name): id_ for name, id_ in source.tuples("SELECT name, id FROM workspaces ORDER BY id")}


def workspaces(source: Source, workspace_ids: Sequence[int]) -> list[WorkspaceRow]:
    compute, aux = (source.column("workspaces", f"default_{kind}_pool", f"default_{kind}_pool") for kind in _POOLS)
    query = _WORKSPACES.format(compute=compute, aux=aux)
    return source.rows(query, WorkspaceRow, {"ids": list(workspace_ids)})


def workspaces_of_projects(source: Source) -> dict[int, int]:
    """Return the workspace of every project, in the order of projects."""
    return dict(source.tuples("SELECT id, workspace_id FROM projects ORDER BY id"))


def projects(source: Source, project_ids: Sequence[int]) -> list[ProjectRow]:
    query = _PROJECTS.format(key=source.column("projects", "key", "key"))
    return source.rows(query, ProjectRow, {"ids": list(project_ids)})


def pins(source: Source, workspace_ids: Sequence[int]) -> list[tuple[int, int]]:
    """List (user, workspace)."""
    query = "SELECT DISTINCT user_id, workspace_id FROM workspace_pins WHERE workspace_id = ANY(%(ids)s)"
    return [(user, workspace) for user, workspace in source.tuples(query, {"ids": list(workspace_ids)})]


def bindings(source: Source, workspace_ids: Sequence[int]) -> list[tuple[int, str]]:
    """List (workspace, pool) of bindings in force."""
    query = """
    SELECT DISTINCT workspace_id, pool_name FROM rp_workspace_bindings WHERE valid AND workspace_id = ANY(%(ids)s)
    """
    return [(workspace, str(pool)) for workspace, pool in source.tuples(query, {"ids": list(workspace_ids)})]


def views(source: Source, project_ids: Sequence[int]) -> list[tuple[int, int, datetime]]:
    """List (user, project, last time)."""
    query = """
    SELECT user_id, entity_id, max(activity_time) FROM activity WHERE entity_id = ANY(%(ids)s) GROUP BY 1, 2
    """
    return [(user, project, time) for user, project, time in source.tuples(query, {"ids": list(project_ids)})]
