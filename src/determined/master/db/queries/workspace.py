"""Rows of workspaces, their pins, and how much is in them."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from determined.master.db import fetch
from determined.master.db.dialects import upsert
from determined.master.db.rows.workspaces import Workspace, WorkspacePinValues, WorkspaceValues
from determined.master.db.schema import (
    experiments,
    jobs,
    projects,
    users,
    workspace_pins,
    workspaces,
)

DEFAULT_ID = 1  # Uncategorized, made by the first start


class WorkspaceDetail(Workspace, frozen=True):
    """A workspace with its owner's name, the viewer's pin and how much is in it."""

    username: str
    pinned_at: datetime | None
    num_projects: int
    num_experiments: int


def get(conn: Connection, workspace_id: int, viewer_id: int) -> WorkspaceDetail | None:
    return fetch.row(conn, _details(viewer_id).where(workspaces.c.id == workspace_id), WorkspaceDetail)


def find(conn: Connection, workspace_id: int) -> Workspace | None:
    return fetch.row(conn, select(workspaces).where(workspaces.c.id == workspace_id), Workspace)


def existing(conn: Connection, workspace_id: int) -> Workspace:
    """Return the workspace. Raises NotFound."""
    missing = f"there is no workspace with id {workspace_id}; `det workspace list` shows all"
    return fetch.existing(find(conn, workspace_id), missing)


def by_name(conn: Connection, name: str) -> int | None:
    return conn.execute(select(workspaces.c.id).where(workspaces.c.name == name)).scalar_one_or_none()


def list_all(conn: Connection, viewer_id: int) -> list[WorkspaceDetail]:
    return fetch.rows(conn, _details(viewer_id).order_by(workspaces.c.id), WorkspaceDetail)


def create(conn: Connection, now: datetime, values: WorkspaceValues) -> int:
    row: WorkspaceValues = {**values, "created_at": now}
    return conn.execute(insert(workspaces).values(**row).returning(workspaces.c.id)).scalar_one()


def change(conn: Connection, workspace_id: int, values: WorkspaceValues) -> None:
    if values:
        conn.execute(update(workspaces).where(workspaces.c.id == workspace_id).values(**values))
    if "archived" in values:
        # its projects count as archived with it: touched, so that whoever listens to them is told
        own = projects.c.workspace_id == workspace_id
        conn.execute(update(projects).where(own).values(workspace_id=projects.c.workspace_id))


def pin(conn: Connection, now: datetime, workspace_id: int, user_id: int) -> None:
    values: WorkspacePinValues = {"user_id": user_id, "workspace_id": workspace_id, "pinned_at": now}
    upsert(conn, workspace_pins, values, ["user_id", "workspace_id"])


def unpin(conn: Connection, workspace_id: int, user_id: int) -> None:
    c = workspace_pins.c
    conn.execute(delete(workspace_pins).where(c.workspace_id == workspace_id, c.user_id == user_id))


def remove(conn: Connection, workspace_id: int) -> None:
    """Delete an empty workspace with its projects. Jobs of deleted experiments stay on record under Uncategorized."""
    conn.execute(update(jobs).where(jobs.c.workspace_id == workspace_id).values(workspace_id=DEFAULT_ID))
    conn.execute(delete(projects).where(projects.c.workspace_id == workspace_id))
    conn.execute(delete(workspaces).where(workspaces.c.id == workspace_id))


def _details(viewer_id: int) -> Select[*tuple[Any, ...]]:
    w, pins = workspaces.c, workspace_pins.c
    num_projects = select(func.count()).where(projects.c.workspace_id == w.id)
    num_experiments = (
        select(func.count())
        .select_from(experiments)
        .join(projects, projects.c.id == experiments.c.project_id)
        .where(projects.c.workspace_id == w.id)
    )
    return (
        select(
            workspaces,
            users.c.username,
            pins.pinned_at,
            num_projects.scalar_subquery().label("num_projects"),
            num_experiments.scalar_subquery().label("num_experiments"),
        )
        .select_from(workspaces)
        .join(users, users.c.id == w.user_id)
        .outerjoin(workspace_pins, (pins.workspace_id == w.id) & (pins.user_id == viewer_id))
    )
