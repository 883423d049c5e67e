"""Rows of projects, who looked at them last, and how much is in them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from determined.master.db.dialects import upsert
from determined.master.db.schema import (
    experiments,
    jobs,
    project_views,
    projects,
    trials,
    users,
    workspaces,
)

_RUNNING = ("ACTIVE", "PAUSED", "STOPPING_CANCELED", "STOPPING_COMPLETED", "STOPPING_ERROR", "STOPPING_KILLED")


@dataclass(frozen=True, slots=True)
class ProjectRow:
    id: int
    name: str
    key: str | None
    description: str
    notes: list[dict[str, str]]
    archived: bool
    immutable: bool
    state: str
    error_message: str
    workspace_id: int
    workspace_name: str
    workspace_archived: bool
    workspace_owner_id: int
    user_id: int
    username: str
    created_at: datetime
    num_experiments: int
    num_active: int
    num_runs: int
    last_started_at: datetime | None


def get(conn: Connection, project_id: int) -> ProjectRow | None:
    row = conn.execute(_rows().where(projects.c.id == project_id)).one_or_none()
    return ProjectRow(*row) if row else None


def by_key(conn: Connection, key: str) -> ProjectRow | None:
    row = conn.execute(_rows().where(projects.c.key == key.upper())).one_or_none()
    return ProjectRow(*row) if row else None


def by_name(conn: Connection, workspace_id: int, name: str) -> int | None:
    c = projects.c
    found = conn.execute(select(c.id).where(c.workspace_id == workspace_id, c.name == name)).scalar_one_or_none()
    return int(found) if found is not None else None


def list_all(conn: Connection, workspace_id: int | None = None) -> list[ProjectRow]:
    statement = _rows().order_by(projects.c.id)
    if workspace_id is not None:
        statement = statement.where(projects.c.workspace_id == workspace_id)
    return [ProjectRow(*row) for row in conn.execute(statement)]


def keys(conn: Connection) -> set[str]:
    return {key for key in conn.execute(select(projects.c.key)).scalars() if key}


def create(conn: Connection, now: datetime, values: dict[str, Any]) -> int:
    row = {**values, "created_at": now}
    return int(conn.execute(insert(projects).values(row).returning(projects.c.id)).scalar_one())


def change(conn: Connection, project_id: int, values: dict[str, Any]) -> None:
    if values:
        conn.execute(update(projects).where(projects.c.id == project_id).values(**values))


def move(conn: Connection, project_id: int, workspace_id: int) -> None:
    """The jobs of its experiments go with it: they carry the workspace for quotas and listings."""
    change(conn, project_id, {"workspace_id": workspace_id})
    of_project = select(experiments.c.job_id).where(experiments.c.project_id == project_id)
    conn.execute(update(jobs).where(jobs.c.id.in_(of_project)).values(workspace_id=workspace_id))


def remove(conn: Connection, project_id: int) -> None:
    conn.execute(delete(projects).where(projects.c.id == project_id))


def viewed(conn: Connection, now: datetime, project_id: int, user_id: int) -> None:
    values = {"user_id": user_id, "project_id": project_id, "viewed_at": now}
    upsert(conn, project_views, values, ["user_id", "project_id"])


def recently_viewed(conn: Connection, user_id: int, limit: int | None) -> list[ProjectRow]:
    views = project_views.c
    statement = (
        _rows()
        .join(project_views, views.project_id == projects.c.id)
        .where(views.user_id == user_id)
        .order_by(views.viewed_at.desc())
        .limit(limit)
    )
    return [ProjectRow(*row) for row in conn.execute(statement)]


def _rows() -> Any:
    p, e = projects.c, experiments.c
    inside = e.project_id == p.id
    num_runs = (
        select(func.count())
        .select_from(trials)
        .join(experiments, e.id == trials.c.experiment_id)
        .where(inside)
        .scalar_subquery()
    )
    columns: list[ColumnElement[Any]] = [
        p.id, p.name, p.key, p.description, p.notes, p.archived, p.immutable, p.state, p.error_message,
        p.workspace_id, workspaces.c.name,
        workspaces.c.archived, workspaces.c.user_id, p.user_id, users.c.username, p.created_at,
        select(func.count()).where(inside).scalar_subquery(),
        select(func.count()).where(inside, e.state.in_(_RUNNING)).scalar_subquery(),
        num_runs,
        select(func.max(e.start_time)).where(inside).scalar_subquery(),
    ]  # fmt: skip
    return (
        select(*columns)
        .select_from(projects)
        .join(users, users.c.id == p.user_id)
        .join(workspaces, workspaces.c.id == p.workspace_id)
    )
