"""Rows of tasks."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, func, insert, select, update

from determined.errors import NotFound
from determined.master.db.queries.batching import batches
from determined.master.db.schema import allocations, experiments, tasks, trials


def get(conn: Connection, task_id: str) -> RowMapping:
    """Raises NotFound."""
    row = conn.execute(select(tasks).where(tasks.c.id == task_id)).mappings().one_or_none()
    if row is None:
        raise NotFound(f"task {task_id} not found")
    return row


def insert_row(conn: Connection, values: dict[str, Any]) -> None:
    conn.execute(insert(tasks).values(**values))


def insert_rows(conn: Connection, rows: list[dict[str, Any]]) -> None:
    if rows:
        conn.execute(insert(tasks), rows)


def end(conn: Connection, now: datetime, task_id: str) -> None:
    conn.execute(update(tasks).where(tasks.c.id == task_id, tasks.c.end_time.is_(None)).values(end_time=now))


def end_of_trials(conn: Connection, now: datetime, trial_ids: Sequence[int]) -> None:
    """End the current tasks of these trials."""
    for some in batches(trial_ids):
        ended = select(trials.c.task_id).where(trials.c.id.in_(some))
        conn.execute(update(tasks).where(tasks.c.id.in_(ended), tasks.c.end_time.is_(None)).values(end_time=now))


def trial_details(conn: Connection, trial_id: int) -> RowMapping:
    """What a trial's task runs: its own columns and those of its experiment."""
    statement = (
        select(
            trials.c.id,
            trials.c.task_id,
            trials.c.hparams,
            trials.c.seed,
            trials.c.warm_start_checkpoint,
            experiments.c.id.label("experiment_id"),
            experiments.c.config,
            experiments.c.original_config,
            experiments.c.submitter_python,
            experiments.c.warm_start_checkpoint.label("experiment_checkpoint"),
        )
        .join(experiments, experiments.c.id == trials.c.experiment_id)
        .where(trials.c.id == trial_id)
    )
    return conn.execute(statement).mappings().one()


def active_counts(conn: Connection) -> dict[str, int]:
    """How many tasks of each type hold a live allocation."""
    statement = (
        select(tasks.c.type, func.count(func.distinct(tasks.c.id)))
        .join(allocations, allocations.c.task_id == tasks.c.id)
        .where(allocations.c.ended_at.is_(None))
        .group_by(tasks.c.type)
    )
    return {str(kind): int(count) for kind, count in conn.execute(statement)}


def accelerators(conn: Connection, task_id: str) -> Sequence[RowMapping]:
    statement = (
        select(allocations.c.id, allocations.c.accelerators)
        .where(allocations.c.task_id == task_id, allocations.c.accelerators.is_not(None))
        .order_by(allocations.c.run_id)
    )
    return conn.execute(statement).mappings().all()
