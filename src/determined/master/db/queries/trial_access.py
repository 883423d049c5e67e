"""Owners of trials and tasks, and the trial of a task: these decide who may write its data."""

import msgspec
from sqlalchemy import Connection, bindparam, select

from determined.master.db import fetch
from determined.master.db.prepared import prepare
from determined.master.db.schema import allocations, experiments, jobs, tasks, trials

_EXPERIMENT_OF_TASK = prepare(select(tasks.c.experiment_id).where(tasks.c.id == bindparam("task")))


class TrialAccess(msgspec.Struct, frozen=True):
    state: str
    run_id: int
    owner_id: int
    unmanaged: bool


class TaskAccess(msgspec.Struct, frozen=True):
    trial_id: int | None
    owner_id: int | None  # of its job


class AllocationAccess(msgspec.Struct, frozen=True):
    trial_id: int | None
    run_id: int
    task_id: str


def of_trial(conn: Connection, trial_id: int) -> TrialAccess:
    """Return the access to a trial. Raises NotFound."""
    query = (
        select(trials.c.state, trials.c.run_id, experiments.c.owner_id, experiments.c.unmanaged)
        .join(experiments, experiments.c.id == trials.c.experiment_id)
        .where(trials.c.id == trial_id)
    )
    return fetch.existing(fetch.row(conn, query, TrialAccess), f"trial {trial_id} not found")


def of_task(conn: Connection, task_id: str) -> TaskAccess:
    """Return the access to a task. Raises NotFound."""
    query = (
        select(tasks.c.trial_id, jobs.c.owner_id)
        .outerjoin(jobs, jobs.c.id == tasks.c.job_id)
        .where(tasks.c.id == task_id)
    )
    return fetch.existing(fetch.row(conn, query, TaskAccess), f"task '{task_id}' not found")


def experiment_of_trial(conn: Connection, trial_id: int) -> int | None:
    return conn.execute(select(trials.c.experiment_id).where(trials.c.id == trial_id)).scalar()


def experiment_of_task(conn: Connection, task_id: str) -> int | None:
    return fetch.scalar(conn, _EXPERIMENT_OF_TASK, {"task": task_id})


def is_submitted_as(conn: Connection, experiment_id: int, external_id: str, owner_id: int) -> bool:
    """Tell whether an experiment of this owner has this external id."""
    query = select(experiments.c.id).where(
        experiments.c.id == experiment_id,
        experiments.c.external_id == external_id,
        experiments.c.owner_id == owner_id,
    )
    return conn.execute(query).first() is not None


def of_allocation(conn: Connection, allocation_id: str) -> AllocationAccess | None:
    query = select(allocations.c.trial_id, allocations.c.run_id, allocations.c.task_id)
    return fetch.row(conn, query.where(allocations.c.id == allocation_id), AllocationAccess)
