"""Rows of jobs and their place in the queue."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, func, insert, select, update

from determined.errors import NotFound
from determined.master.db.queries.batching import batches
from determined.master.db.schema import allocations, experiments, jobs, trials


def get(conn: Connection, job_id: str) -> RowMapping:
    """Raises NotFound."""
    row = conn.execute(select(jobs).where(jobs.c.id == job_id)).mappings().one_or_none()
    if row is None:
        raise NotFound(f"job {job_id} not found")
    return row


def insert_row(conn: Connection, values: dict[str, Any]) -> None:
    conn.execute(insert(jobs).values(**values))


def update_row(conn: Connection, job_id: str, values: dict[str, Any]) -> None:
    conn.execute(update(jobs).where(jobs.c.id == job_id).values(**values))


def delete_row(conn: Connection, job_id: str) -> None:
    conn.execute(jobs.delete().where(jobs.c.id == job_id))


def experiment_of(conn: Connection, job_id: str) -> int | None:
    return conn.execute(select(experiments.c.id).where(experiments.c.job_id == job_id)).scalar_one_or_none()


def first_starts(conn: Connection, job_ids: Sequence[str]) -> dict[str, datetime]:
    """When the first trial of each of these jobs began to run; those that have none, or whose has not, are left out."""
    started = allocations.c.started_at
    found: dict[str, datetime] = {}
    for some in batches(job_ids):
        first = (
            select(experiments.c.job_id, func.min(trials.c.id).label("trial_id"))
            .join(trials, trials.c.experiment_id == experiments.c.id)
            .where(experiments.c.job_id.in_(some))
            .group_by(experiments.c.job_id)
            .subquery()
        )
        query = (
            select(first.c.job_id, func.min(started, type_=started.type))
            .join(allocations, allocations.c.trial_id == first.c.trial_id)
            .where(started.is_not(None))
            .group_by(first.c.job_id)
        )
        found.update((job_id, moment) for job_id, moment in conn.execute(query))
    return found


def live_in_pool(conn: Connection, pool: str, states: Sequence[str]) -> Sequence[RowMapping]:
    """Jobs of experiments in the given states, in queue order: the neighbours of a job that moves."""
    statement = (
        select(jobs)
        .join(experiments, experiments.c.job_id == jobs.c.id)
        .where(jobs.c.pool == pool, experiments.c.state.in_(list(states)))
        .order_by(jobs.c.priority, jobs.c.position, jobs.c.submitted_at, jobs.c.id)
    )
    return conn.execute(statement).mappings().all()
