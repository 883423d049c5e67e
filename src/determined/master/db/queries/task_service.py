"""Rows that decide which services a task has, and who may reach them."""

from datetime import datetime

import msgspec
from sqlalchemy import Connection, Nullable, Text, and_, bindparam, cast, func, select

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.schema import allocations, experiments, jobs, submitted_tasks, tasks


class ServiceTarget(msgspec.Struct, frozen=True):
    """A task, its owner, and the allocation that runs it now; None between two runs and after the last."""

    task_id: str
    task_type: str
    owner_id: int
    end_time: datetime | None
    allocation_id: str | None
    share_links: int | None  # of a submitted task
    is_shared: bool | None


# Built once, because every proxied request asks it.
_FIND = (
    select(
        tasks.c.id.label("task_id"),
        tasks.c.type.label("task_type"),
        func.coalesce(jobs.c.owner_id, experiments.c.owner_id).label("owner_id"),
        tasks.c.end_time,
        Nullable(allocations.c.id.label("allocation_id")),
        Nullable(submitted_tasks.c.share_links),
        Nullable(submitted_tasks.c.is_shared),
    )
    .select_from(tasks)
    .outerjoin(jobs, jobs.c.id == tasks.c.job_id)
    .outerjoin(experiments, experiments.c.id == tasks.c.experiment_id)
    .outerjoin(submitted_tasks, submitted_tasks.c.task_id == tasks.c.id)
    .outerjoin(allocations, and_(allocations.c.task_id == tasks.c.id, allocations.c.ended_at.is_(None)))
    .where(tasks.c.id == bindparam("task"))
    .order_by(allocations.c.run_id.desc())
    .limit(1)
)


def find(conn: Connection, task_id: str) -> ServiceTarget | None:
    return fetch.row(conn, _FIND, ServiceTarget, {"task": task_id})


def declared_ports(conn: Connection) -> dict[str, list[JsonObject]]:
    """Return `environment.proxy_ports` of live tasks that declare any, by task id."""
    found: dict[str, list[JsonObject]] = {}
    for statement in _DECLARED:
        for task_id, ports in conn.execute(statement):
            found.setdefault(task_id, []).extend(ports or [])
    return found


_PORTS = ("environment", "proxy_ports")
_IS_LIVE = and_(allocations.c.task_id == tasks.c.id, allocations.c.ended_at.is_(None))
# Most configs declare none: those are told by their text, without reading them.
_DECLARED = (
    select(tasks.c.id, experiments.c.config[_PORTS])
    .join(allocations, _IS_LIVE)
    .join(experiments, experiments.c.id == tasks.c.experiment_id)
    .where(cast(experiments.c.config, Text).like('%"proxy_port"%')),
    select(tasks.c.id, submitted_tasks.c.config[_PORTS])
    .join(allocations, _IS_LIVE)
    .join(submitted_tasks, submitted_tasks.c.task_id == tasks.c.id)
    .where(cast(submitted_tasks.c.config, Text).like('%"proxy_port"%')),
)
