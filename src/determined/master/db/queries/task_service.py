"""Rows that decide who may reach the services of a task."""

from datetime import datetime

import msgspec
from sqlalchemy import Connection, Nullable, and_, bindparam, func, select

from determined.master.db import fetch
from determined.master.db.schema import allocations, experiments, jobs, tasks


class ServiceTarget(msgspec.Struct, frozen=True):
    """A task, its owner, and the allocation that runs it now; None between two runs and after the last."""

    task_id: str
    task_type: str
    owner_id: int
    end_time: datetime | None
    allocation_id: str | None


# Built once, because every proxied request asks it.
_FIND = (
    select(
        tasks.c.id.label("task_id"),
        tasks.c.type.label("task_type"),
        func.coalesce(jobs.c.owner_id, experiments.c.owner_id).label("owner_id"),
        tasks.c.end_time,
        Nullable(allocations.c.id.label("allocation_id")),
    )
    .select_from(tasks)
    .outerjoin(jobs, jobs.c.id == tasks.c.job_id)
    .outerjoin(experiments, experiments.c.id == tasks.c.experiment_id)
    .outerjoin(allocations, and_(allocations.c.task_id == tasks.c.id, allocations.c.ended_at.is_(None)))
    .where(tasks.c.id == bindparam("task"))
    .order_by(allocations.c.run_id.desc())
    .limit(1)
)


def find(conn: Connection, task_id: str) -> ServiceTarget | None:
    return fetch.row(conn, _FIND, ServiceTarget, {"task": task_id})
