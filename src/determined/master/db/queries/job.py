"""Rows of jobs and their place in the queue."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, insert, select, update

from determined.errors import NotFound
from determined.master.db.schema import experiments, jobs


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


def live_in_pool(conn: Connection, pool: str, states: Sequence[str]) -> Sequence[RowMapping]:
    """Jobs of experiments in the given states, in queue order: the neighbours of a job that moves."""
    statement = (
        select(jobs)
        .join(experiments, experiments.c.job_id == jobs.c.id)
        .where(jobs.c.pool == pool, experiments.c.state.in_(list(states)))
        .order_by(jobs.c.priority, jobs.c.position, jobs.c.submitted_at, jobs.c.id)
    )
    return conn.execute(statement).mappings().all()
