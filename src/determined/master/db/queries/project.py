"""Rows of projects, when users opened them last, and how much is in them."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from determined.master.db import fetch
from determined.master.db.dialects import upsert
from determined.master.db.rows.workspaces import Project, ProjectValues, ProjectViewValues
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


class ProjectDetail(Project, frozen=True):
    """A project with its workspace, its owner's name and how much is in it."""

    workspace_name: str
    workspace_archived: bool
    workspace_owner_id: int
    username: str
    num_experiments: int
    num_active: int
    num_runs: int
    last_started_at: datetime | None


def get(conn: Connection, project_id: int) -> ProjectDetail | None:
    return fetch.row(conn, _details().where(projects.c.id == project_id), ProjectDetail)


def by_key(conn: Connection, key: str) -> ProjectDetail | None:
    return fetch.row(conn, _details().where(projects.c.key == key.upper()), ProjectDetail)


def by_name(conn: Connection, workspace_id: int, name: str) -> int | None:
    c = projects.c
    return conn.execute(select(c.id).where(c.workspace_id == workspace_id, c.name == name)).scalar_one_or_none()


def list_all(conn: Connection, workspace_id: int | None = None) -> list[ProjectDetail]:
    statement = _details().order_by(projects.c.id)
    if workspace_id is not None:
        statement = statement.where(projects.c.workspace_id == workspace_id)
    return fetch.rows(conn, statement, ProjectDetail)


def keys(conn: Connection) -> set[str]:
    return {key for key in conn.execute(select(projects.c.key)).scalars() if key}


def create(conn: Connection, now: datetime, values: ProjectValues) -> int:
    row: ProjectValues = {**values, "created_at": now}
    return conn.execute(insert(projects).values(**row).returning(projects.c.id)).scalar_one()


def change(conn: Connection, project_id: int, values: ProjectValues) -> None:
    if values:
        conn.execute(update(projects).where(projects.c.id == project_id).values(**values))


def move(conn: Connection, project_id: int, workspace_id: int) -> None:
    """Move a project and the jobs of its experiments, which carry the workspace for quotas and listings."""
    change(conn, project_id, {"workspace_id": workspace_id})
    of_project = select(experiments.c.job_id).where(experiments.c.project_id == project_id)
    conn.execute(update(jobs).where(jobs.c.id.in_(of_project)).values(workspace_id=workspace_id))


def remove(conn: Connection, project_id: int) -> None:
    conn.execute(delete(projects).where(projects.c.id == project_id))


def viewed(conn: Connection, now: datetime, project_id: int, user_id: int) -> None:
    values: ProjectViewValues = {"user_id": user_id, "project_id": project_id, "viewed_at": now}
    upsert(conn, project_views, values, ["user_id", "project_id"])


def recently_viewed(conn: Connection, user_id: int, limit: int | None) -> list[ProjectDetail]:
    views = project_views.c
    statement = (
        _details()
        .join(project_views, views.project_id == projects.c.id)
        .where(views.user_id == user_id)
        .order_by(views.viewed_at.desc())
        .limit(limit)
    )
    return fetch.rows(conn, statement, ProjectDetail)


def _details() -> Select[*tuple[Any, ...]]:
    p, e, w = projects.c, experiments.c, workspaces.c
    inside = e.project_id == p.id
    count = select(func.count()).where(inside)
    num_runs = select(func.count()).select_from(trials).join(experiments, e.id == trials.c.experiment_id).where(inside)
    return (
        select(
            projects,
            w.name.label("workspace_name"),
            w.archived.label("workspace_archived"),
            w.user_id.label("workspace_owner_id"),
            users.c.username,
            count.scalar_subquery().label("num_experiments"),
            count.where(e.state.in_(_RUNNING)).scalar_subquery().label("num_active"),
            num_runs.scalar_subquery().label("num_runs"),
            select(func.max(e.start_time)).where(inside).scalar_subquery().label("last_started_at"),
        )
        .select_from(projects)
        .join(users, users.c.id == p.user_id)
        .join(workspaces, w.id == p.workspace_id)
    )
