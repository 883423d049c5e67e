"""Allocations that held slots within a span of time, with whom they belong to."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, RowMapping, or_, select

from determined.master.db.schema import allocations, experiments, jobs, projects, tasks, users, workspaces


def overlapping(conn: Connection, after: datetime, before: datetime) -> Sequence[RowMapping]:
    """Oldest first. One that was never assigned anything held nothing."""
    statement = (
        select(
            allocations.c.id,
            allocations.c.task_id,
            allocations.c.slots,
            allocations.c.pool,
            allocations.c.assigned_at,
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
        .join(workspaces, workspaces.c.id == jobs.c.workspace_id)
        .outerjoin(experiments, experiments.c.id == tasks.c.experiment_id)
        .outerjoin(projects, projects.c.id == experiments.c.project_id)
        .where(
            allocations.c.assigned_at < before,
            or_(allocations.c.ended_at.is_(None), allocations.c.ended_at > after),
        )
        .order_by(allocations.c.assigned_at, allocations.c.id)
    )
    return conn.execute(statement).mappings().all()
