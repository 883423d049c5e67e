"""Rows of trials in full, with their tasks, allocations, series and checkpoints: what a bundle takes."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from sqlalchemy import Connection, NotNullable, func, select

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.queries.metric_live import INDEXED
from determined.master.db.rows.allocations import Allocation
from determined.master.db.rows.checkpoints import Checkpoint
from determined.master.db.rows.experiments import Trial
from determined.master.db.schema import (
    allocations,
    checkpoints,
    log_chunks,
    metric_chunks,
    metric_watermarks,
    storage_backends,
    tasks,
    trials,
)


class TaskRow(msgspec.Struct, frozen=True):
    id: str
    trial_id: int
    start_time: datetime
    end_time: datetime | None
    log_retention_days: int | None


class SeriesRow(msgspec.Struct, frozen=True):
    trial_id: int
    run_id: int
    group: str
    points: int


class StoredCheckpoint(Checkpoint, frozen=True):
    """Checkpoint with the storage that it names, if any."""

    storage: JsonObject | None


def count(conn: Connection, experiment_id: int) -> int:
    query = select(func.count()).select_from(trials).where(trials.c.experiment_id == experiment_id)
    return conn.execute(query).scalar_one()


def page(conn: Connection, experiment_id: int, limit: int, offset: int) -> list[Trial]:
    """Return trials of an experiment in the order of their ids."""
    query = select(trials).where(trials.c.experiment_id == experiment_id).order_by(trials.c.id)
    return fetch.rows(conn, query.limit(limit).offset(offset), Trial)


def tasks_of(conn: Connection, ids: Sequence[int]) -> list[TaskRow]:
    """Return the tasks of trials, oldest first."""
    c = tasks.c
    query = select(c.id, NotNullable(c.trial_id), c.start_time, c.end_time, c.log_retention_days)
    return fetch.rows(conn, query.where(c.trial_id.in_(ids)).order_by(c.start_time, c.id), TaskRow)


def log_lines(conn: Connection, ids: Sequence[int]) -> dict[str, int]:
    """Count the lines of each task of some trials; a task without lines is left out."""
    c = log_chunks.c
    query = select(c.task_id, func.sum(c.n)).join(tasks, tasks.c.id == c.task_id).where(tasks.c.trial_id.in_(ids))
    return {task_id: int(n) for task_id, n in conn.execute(query.group_by(c.task_id))}


def allocations_of(conn: Connection, ids: Sequence[int]) -> list[Allocation]:
    c = allocations.c
    query = select(allocations).where(c.trial_id.in_(ids)).order_by(c.trial_id, c.run_id, c.requested_at, c.id)
    return fetch.rows(conn, query, Allocation)


def series_of(conn: Connection, ids: Sequence[int]) -> list[SeriesRow]:
    """Return the series of trials with the number of stored reports, those included that a later run hides."""
    c = metric_chunks.c
    query = select(c.trial_id, c.run_id, c.group, func.sum(c.n).label("points")).where(c.trial_id.in_(ids))
    grouped = query.group_by(c.trial_id, c.run_id, c.group).order_by(c.trial_id, c.group, c.run_id)
    return [SeriesRow(trial, run, group, int(points)) for trial, run, group, points in conn.execute(grouped)]


def indexed(conn: Connection, ids: Sequence[int]) -> set[tuple[int, int, str]]:
    """Return trial, run and group of the series whose reports carry no steps."""
    c = metric_watermarks.c
    query = select(c.trial_id, c.run_id, c.group).where(c.trial_id.in_(ids), c.first_step == INDEXED)
    return {(trial, run, group) for trial, run, group in conn.execute(query)}


def checkpoints_of(conn: Connection, ids: Sequence[int]) -> list[StoredCheckpoint]:
    """Return all checkpoints of trials, deleted ones too."""
    c = checkpoints.c
    query = (
        select(checkpoints, storage_backends.c.config.label("storage"))
        .outerjoin(storage_backends, storage_backends.c.id == c.storage_id)
        .where(c.trial_id.in_(ids))
        .order_by(c.trial_id, c.steps_completed, c.report_time, c.uuid)
    )
    return fetch.rows(conn, query, StoredCheckpoint)
