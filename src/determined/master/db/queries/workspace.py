"""Rows of workspaces, their pins, and how much is in them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from determined.master.db.dialects import upsert
from determined.master.db.schema import (
    experiments,
    jobs,
    projects,
    tasks,
    users,
    workspace_pins,
    workspaces,
)

DEFAULT_ID = 1  # Uncategorized, made by the first start


@dataclass(frozen=True, slots=True)
class WorkspaceRow:
    id: int
    name: str
    user_id: int
    username: str
    archived: bool
    immutable: bool
    agent_uid: int | None
    agent_user: str | None
    agent_gid: int | None
    agent_group: str | None
    checkpoint_storage: dict[str, Any] | None
    default_compute_pool: str | None
    default_aux_pool: str | None
    state: str
    error_message: str
    pinned_at: datetime | None
    num_projects: int
    num_experiments: int


def get(conn: Connection, workspace_id: int, viewer_id: int) -> WorkspaceRow | None:
    row = conn.execute(_rows(viewer_id).where(workspaces.c.id == workspace_id)).one_or_none()
    return WorkspaceRow(*row) if row else None


def by_name(conn: Connection, name: str) -> int | None:
    found = conn.execute(select(workspaces.c.id).where(workspaces.c.name == name)).scalar_one_or_none()
    return int(found) if found is not None else None


def list_all(conn: Connection, viewer_id: int) -> list[WorkspaceRow]:
    return [WorkspaceRow(*row) for row in conn.execute(_rows(viewer_id).order_by(workspaces.c.id))]


def create(conn: Connection, now: datetime, values: dict[str, Any]) -> int:
    row = {**values, "created_at": now}
    return int(conn.execute(insert(workspaces).values(row).returning(workspaces.c.id)).scalar_one())


def change(conn: Connection, workspace_id: int, values: dict[str, Any]) -> None:
    if values:
        conn.execute(update(workspaces).where(workspaces.c.id == workspace_id).values(**values))
    if "archived" in values:
        # its projects count as archived with it: touched, so that whoever listens to them is told
        own = projects.c.workspace_id == workspace_id
        conn.execute(update(projects).where(own).values(workspace_id=projects.c.workspace_id))


def pin(conn: Connection, now: datetime, workspace_id: int, user_id: int) -> None:
    values = {"user_id": user_id, "workspace_id": workspace_id, "pinned_at": now}
    upsert(conn, workspace_pins, values, ["user_id", "workspace_id"])


def unpin(conn: Connection, workspace_id: int, user_id: int) -> None:
    c = workspace_pins.c
    conn.execute(delete(workspace_pins).where(c.workspace_id == workspace_id, c.user_id == user_id))


def running_tasks(conn: Connection, workspace_id: int) -> int:
    """Tasks of this workspace that have not ended (commands and notebooks as well as trials)."""
    statement = (
        select(func.count())
        .select_from(tasks)
        .join(jobs, jobs.c.id == tasks.c.job_id)
        .where(jobs.c.workspace_id == workspace_id, tasks.c.end_time.is_(None))
    )
    return int(conn.execute(statement).scalar_one())


def remove(conn: Connection, workspace_id: int) -> None:
    """Delete an empty workspace with its projects. Jobs of deleted experiments stay on record under Uncategorized."""
    conn.execute(update(jobs).where(jobs.c.workspace_id == workspace_id).values(workspace_id=DEFAULT_ID))
    conn.execute(delete(projects).where(projects.c.workspace_id == workspace_id))
    conn.execute(delete(workspaces).where(workspaces.c.id == workspace_id))


def _rows(viewer_id: int) -> Any:
    w, pins = workspaces.c, workspace_pins.c
    num_projects = select(func.count()).where(projects.c.workspace_id == w.id).scalar_subquery()
    num_experiments = (
        select(func.count())
        .select_from(experiments)
        .join(projects, projects.c.id == experiments.c.project_id)
        .where(projects.c.workspace_id == w.id)
        .scalar_subquery()
    )
    columns: list[ColumnElement[Any]] = [
        w.id, w.name, w.user_id, users.c.username, w.archived, w.immutable, w.agent_uid, w.agent_user, w.agent_gid,
        w.agent_group, w.checkpoint_storage, w.default_compute_pool, w.default_aux_pool, w.state, w.error_message,
        pins.pinned_at,
    ]  # fmt: skip
    return (
        select(*columns, num_projects, num_experiments)
        .select_from(workspaces)
        .join(users, users.c.id == w.user_id)
        .outerjoin(workspace_pins, (pins.workspace_id == w.id) & (pins.user_id == viewer_id))
    )
