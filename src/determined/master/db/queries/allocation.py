"""Rows of allocations: get, insert, update, and what scheduling and signals look at."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from sqlalchemy import Connection, Integer, NotNullable, bindparam, func, insert, select, update

from determined.master.db import fetch
from determined.master.db.prepared import prepare
from determined.master.db.rows.allocations import Allocation, AllocationValues
from determined.master.db.schema import (
    allocations,
    experiments,
    jobs,
    log_policy_hits,
    submitted_tasks,
    tasks,
    trials,
    users,
)

# Statements that every trial needs are built once: building one costs more than running it.
_FIND = prepare(select(allocations).where(allocations.c.id == bindparam("this")))
_INSERT = prepare(insert(allocations))
_UPDATE = prepare(update(allocations).where(allocations.c.id == bindparam("this")))
_FIRST_RUN = prepare(
    select(func.coalesce(func.min(allocations.c.run_id), 0)).where(allocations.c.task_id == bindparam("task"))
)
_LIVE_OF_TRIAL = prepare(
    select(allocations).where(allocations.c.trial_id == bindparam("trial"), allocations.c.ended_at.is_(None))
)
_LATEST_ENDS = prepare(
    select(allocations.c.exit_kind, allocations.c.started_at, allocations.c.ended_at)
    .where(allocations.c.trial_id == bindparam("trial"))
    .order_by(allocations.c.run_id.desc())
    .limit(bindparam("limit", type_=Integer))
)
_EXCLUDED_NODES = prepare(
    select(log_policy_hits.c.task_id, log_policy_hits.c.node_id)
    .join(allocations, allocations.c.task_id == log_policy_hits.c.task_id)
    .where(log_policy_hits.c.action == "exclude_node", allocations.c.ended_at.is_(None))
    .distinct()
)
_RESERVED_PORTS = prepare(
    select(NotNullable(allocations.c.ports)).where(allocations.c.ended_at.is_(None), allocations.c.ports.is_not(None))
)
_LIVE_WITH_JOB = prepare(
    select(
        allocations,
        tasks.c.type.label("task_type"),
        jobs.c.id.label("job_id"),
        jobs.c.type.label("job_type"),
        jobs.c.owner_id,
        jobs.c.workspace_id,
        jobs.c.priority,
        jobs.c.weight,
        jobs.c.max_slots,
        jobs.c.submitted_at,
        jobs.c.position,
        users.c.username,
        experiments.c.id.label("experiment_id"),
        experiments.c.name.label("experiment_name"),
        experiments.c.progress,
        submitted_tasks.c.description,
    )
    .join(tasks, tasks.c.id == allocations.c.task_id)
    .join(jobs, jobs.c.id == tasks.c.job_id)
    .join(users, users.c.id == jobs.c.owner_id)
    .outerjoin(experiments, experiments.c.id == tasks.c.experiment_id)
    .outerjoin(submitted_tasks, submitted_tasks.c.task_id == tasks.c.id)
    .where(allocations.c.ended_at.is_(None))
    .order_by(allocations.c.requested_at, allocations.c.id)
)


class LiveAllocation(Allocation, frozen=True):
    """Allocation with the columns of its task, its job and its experiment."""

    task_type: str
    job_id: str
    job_type: str
    owner_id: int
    workspace_id: int
    priority: int
    weight: float
    max_slots: int | None
    submitted_at: datetime
    position: float
    username: str
    experiment_id: int | None
    experiment_name: str | None
    progress: float | None
    description: str | None  # of a submitted task


class AllocationEnd(msgspec.Struct, frozen=True):
    exit_kind: str | None
    started_at: datetime | None
    ended_at: datetime | None


_OVERDUE = prepare(
    select(allocations.c.id).where(
        allocations.c.ended_at.is_(None),
        allocations.c.kill_at.is_(None),
        allocations.c.preempt_deadline <= bindparam("now", type_=allocations.c.preempt_deadline.type),
    )
)


def get(conn: Connection, allocation_id: str) -> Allocation:
    """Return the allocation. Raises NotFound."""
    return fetch.existing(find(conn, allocation_id), f"allocation {allocation_id} not found")


def find(conn: Connection, allocation_id: str) -> Allocation | None:
    return fetch.row(conn, _FIND, Allocation, {"this": allocation_id})


def first_run(conn: Connection, task_id: str) -> int:
    """Return the run id of a task's first allocation; 0 where it has none."""
    return fetch.scalar(conn, _FIRST_RUN, {"task": task_id}) or 0


def insert_row(conn: Connection, values: AllocationValues) -> None:
    fetch.change(conn, _INSERT, values)


def update_row(conn: Connection, allocation_id: str, values: AllocationValues) -> None:
    fetch.change(conn, _UPDATE, {"this": allocation_id, **values})


def live_of_trial(conn: Connection, trial_id: int) -> Allocation | None:
    return fetch.row(conn, _LIVE_OF_TRIAL, Allocation, {"trial": trial_id})


def live_of_experiment(conn: Connection, experiment_id: int) -> list[Allocation]:
    statement = (
        select(allocations)
        .join(trials, trials.c.id == allocations.c.trial_id)
        .where(trials.c.experiment_id == experiment_id, allocations.c.ended_at.is_(None))
    )
    return fetch.rows(conn, statement, Allocation)


def of_task(conn: Connection, task_id: str) -> list[Allocation]:
    """Return the allocations of a task, newest first."""
    statement = select(allocations).where(allocations.c.task_id == task_id).order_by(allocations.c.run_id.desc())
    return fetch.rows(conn, statement, Allocation)


def latest_ends(conn: Connection, trial_id: int, limit: int) -> list[AllocationEnd]:
    """Return ends of the newest allocations of a trial, newest first."""
    return fetch.rows(conn, _LATEST_ENDS, AllocationEnd, {"trial": trial_id, "limit": limit})


def first_failure_reason(conn: Connection, experiment_id: int) -> str | None:
    """Return why the last run of the experiment's first failed trial ended."""
    statement = (
        select(allocations.c.exit_reason)
        .join(trials, trials.c.id == allocations.c.trial_id)
        .where(trials.c.experiment_id == experiment_id, trials.c.state == "ERROR")
        .order_by(trials.c.id, allocations.c.run_id.desc())
        .limit(1)
    )
    return conn.execute(statement).scalar_one_or_none()


def live_with_job(conn: Connection) -> list[LiveAllocation]:
    """Return every live allocation with the columns of its job that scheduling and the queue need."""
    return fetch.rows(conn, _LIVE_WITH_JOB, LiveAllocation)


def excluded_nodes(conn: Connection) -> dict[str, frozenset[str]]:
    """task id -> nodes its log policies exclude, of tasks with a live allocation."""
    nodes_by_task: dict[str, set[str]] = {}
    for task_id, node_id in fetch.tuples(conn, _EXCLUDED_NODES):
        nodes_by_task.setdefault(task_id, set()).add(node_id)
    return {task: frozenset(nodes) for task, nodes in nodes_by_task.items()}


def overdue(conn: Connection, now: datetime) -> Sequence[str]:
    """Return live allocations whose deadline to leave by themselves has passed and that nobody has killed yet."""
    return [allocation_id for (allocation_id,) in fetch.tuples(conn, _OVERDUE, {"now": now})]


def reserved_ports(conn: Connection) -> set[int]:
    return {port for (ports,) in fetch.tuples(conn, _RESERVED_PORTS) for port in ports.values()}
