"""Allocations that held slots within a span of time, with their owners."""

from datetime import datetime

import msgspec
from sqlalchemy import Connection, NotNullable, func, or_, select

from determined.master.db import fetch
from determined.master.db.schema import allocations, experiments, jobs, projects, tasks, users, workspaces


class SlotUse(msgspec.Struct, frozen=True):
    """An allocation that held slots, with its user, workspace, project and experiment."""

    id: str
    task_id: str
    slots: int
    pool: str
    assigned_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    task_type: str
    user_id: int
    username: str
    workspace_name: str
    experiment_id: int | None
    labels: list[str] | None
    project_name: str | None


def overlapping(conn: Connection, after: datetime, before: datetime) -> list[SlotUse]:
    """List the oldest first. One that was never assigned anything held nothing."""
    statement = (
        select(
            allocations.c.id,
            allocations.c.task_id,
            allocations.c.slots,
            allocations.c.pool,
            NotNullable(allocations.c.assigned_at),
            allocations.c.started_at,
            allocations.c.ended_at,
            tasks.c.type.label("task_type"),
            users.c.id.label("user_id"),
            users.c.username,
            workspaces.c.name.label("workspace_name"),
            experiments.c.id.label("experiment_id"),
            experiments.c.labels,
            projects.c.name.label("project_name"),
        )
        .join(tasks, tasks.c.id == allocations.c.task_id)
        .join(jobs, jobs.c.id == tasks.c.job_id)
        .join(users, users.c.id == jobs.c.owner_id)
        .outerjoin(experiments, experiments.c.id == tasks.c.experiment_id)
        .outerjoin(projects, projects.c.id == experiments.c.project_id)
        # an experiment that was moved is counted where it is now; its job keeps the workspace it was submitted in
        .join(workspaces, workspaces.c.id == func.coalesce(projects.c.workspace_id, jobs.c.workspace_id))
        .where(
            allocations.c.assigned_at < before,
            or_(allocations.c.ended_at.is_(None), allocations.c.ended_at > after),
        )
        .order_by(allocations.c.assigned_at, allocations.c.id)
    )
    return fetch.rows(conn, statement, SlotUse)
