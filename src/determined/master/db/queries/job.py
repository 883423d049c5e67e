"""Rows of jobs and their place in the queue."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, func, insert, or_, select, update

from determined.master.db import fetch
from determined.master.db.queries.batching import batches
from determined.master.db.rows.experiments import Job, JobValues
from determined.master.db.schema import allocations, experiments, jobs, submitted_tasks, tasks, trials


def get(conn: Connection, job_id: str) -> Job:
    """Return the job. Raises NotFound."""
    return fetch.existing(fetch.row(conn, select(jobs).where(jobs.c.id == job_id), Job), f"job {job_id} not found")


def insert_row(conn: Connection, values: JobValues) -> None:
    conn.execute(insert(jobs).values(**values))


def update_row(conn: Connection, job_id: str, values: JobValues) -> None:
    conn.execute(update(jobs).where(jobs.c.id == job_id).values(**values))


def delete_row(conn: Connection, job_id: str) -> None:
    conn.execute(jobs.delete().where(jobs.c.id == job_id))


def experiment_of(conn: Connection, job_id: str) -> int | None:
    return conn.execute(select(experiments.c.id).where(experiments.c.job_id == job_id)).scalar_one_or_none()


def first_starts(conn: Connection, job_ids: Sequence[str]) -> dict[str, datetime]:
    """Return when the first trial of each of these jobs began to run; a job without one is left out."""
    started = allocations.c.started_at
    starts: dict[str, datetime] = {}
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
        starts.update((job_id, moment) for job_id, moment in conn.execute(query))
    return starts


def live_in_pool(conn: Connection, pool: str, states: Sequence[str]) -> list[Job]:
    """Return jobs of experiments in the given states and of live submitted tasks, in queue order.

    They are the neighbours of a job that moves.
    """
    submitted = (
        select(tasks.c.job_id)
        .join(submitted_tasks, submitted_tasks.c.task_id == tasks.c.id)
        .where(tasks.c.end_time.is_(None))
    )
    statement = (
        select(jobs)
        .outerjoin(experiments, experiments.c.job_id == jobs.c.id)
        .where(jobs.c.pool == pool, or_(experiments.c.state.in_(list(states)), jobs.c.id.in_(submitted)))
        .order_by(jobs.c.priority, jobs.c.position, jobs.c.submitted_at, jobs.c.id)
    )
    return fetch.rows(conn, statement, Job)
