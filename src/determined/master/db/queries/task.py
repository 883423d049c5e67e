"""Rows of tasks."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from sqlalchemy import Connection, NotNullable, bindparam, func, insert, select, update

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.prepared import prepare
from determined.master.db.queries.batching import batches
from determined.master.db.rows.allocations import Task, TaskValues
from determined.master.db.schema import allocations, experiments, tasks, trials


class TrialDetails(msgspec.Struct, frozen=True):
    id: int
    task_id: str
    hparams: JsonObject
    seed: int
    warm_start_checkpoint: str | None
    experiment_id: int
    config: JsonObject
    original_config: str
    submitter_python: str | None
    experiment_checkpoint: str | None


class AllocationAccelerators(msgspec.Struct, frozen=True):
    id: str
    accelerators: list[JsonObject]


# Statements that every trial needs.
_GET = prepare(select(tasks).where(tasks.c.id == bindparam("this")))
_INSERT = prepare(insert(tasks))
_END = prepare(update(tasks).where(tasks.c.id == bindparam("this"), tasks.c.end_time.is_(None)))
_TRIAL_DETAILS = prepare(
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
    .where(trials.c.id == bindparam("trial"))
)


def get(conn: Connection, task_id: str) -> Task:
    """Return the task. Raises NotFound."""
    return fetch.existing(fetch.row(conn, _GET, Task, {"this": task_id}), f"task '{task_id}' not found")


def insert_row(conn: Connection, values: TaskValues) -> None:
    conn.execute(insert(tasks).values(**values))


def insert_rows(conn: Connection, rows: list[TaskValues]) -> None:
    fetch.change_each(conn, _INSERT, rows)


def end(conn: Connection, now: datetime, task_id: str) -> None:
    fetch.change(conn, _END, {"this": task_id, "end_time": now})


def reopen(conn: Connection, task_id: str) -> None:
    """Take an ended task up again."""
    conn.execute(update(tasks).where(tasks.c.id == task_id).values(end_time=None))


def end_of_trials(conn: Connection, now: datetime, trial_ids: Sequence[int]) -> None:
    """End the current tasks of these trials."""
    for some in batches(trial_ids):
        ended = select(trials.c.task_id).where(trials.c.id.in_(some))
        conn.execute(update(tasks).where(tasks.c.id.in_(ended), tasks.c.end_time.is_(None)).values(end_time=now))


def trial_details(conn: Connection, trial_id: int) -> TrialDetails:
    """Return the columns of a trial and of its experiment that its task runs by."""
    return fetch.existing(
        fetch.row(conn, _TRIAL_DETAILS, TrialDetails, {"trial": trial_id}), f"trial {trial_id} not found"
    )


def active_counts(conn: Connection) -> dict[str, int]:
    """Count the tasks of each type that run."""
    statement = (
        select(tasks.c.type, func.count(func.distinct(tasks.c.id)))
        .join(allocations, allocations.c.task_id == tasks.c.id)
        .where(allocations.c.ended_at.is_(None), allocations.c.state.in_(("RUNNING", "WAITING")))
        .group_by(tasks.c.type)
    )
    return {str(kind): int(count) for kind, count in conn.execute(statement)}


def accelerators(conn: Connection, task_id: str) -> list[AllocationAccelerators]:
    statement = (
        select(allocations.c.id, NotNullable(allocations.c.accelerators))
        .where(allocations.c.task_id == task_id, allocations.c.accelerators.is_not(None))
        .order_by(allocations.c.run_id)
    )
    return fetch.rows(conn, statement, AllocationAccelerators)
