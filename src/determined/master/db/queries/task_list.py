"""Tasks of every kind in one list: what users submitted, and the tasks of trials that have not ended."""

from datetime import datetime

import msgspec
from sqlalchemy import ColumnElement, Connection, String, case, cast, func, or_, select

from determined.master.db import fetch
from determined.master.db.queries.text_match import contains
from determined.master.db.schema import allocations, jobs, submitted_tasks, tasks, users, workspaces
from determined.wire.allocation import AllocationState
from determined.wire.task_list import SearchTasks

_MOST_WORDS = 20
_QUEUED = ("PENDING", "ASSIGNED")
_newest = allocations.alias("newest")
_LAST_RUN = select(func.max(_newest.c.run_id)).where(_newest.c.task_id == tasks.c.id).scalar_subquery()
_SOURCE = (
    tasks.join(jobs, jobs.c.id == tasks.c.job_id)
    .join(users, users.c.id == jobs.c.owner_id)
    .join(workspaces, workspaces.c.id == jobs.c.workspace_id)
    .join(allocations, (allocations.c.task_id == tasks.c.id) & (allocations.c.run_id == _LAST_RUN))
    .outerjoin(submitted_tasks, submitted_tasks.c.task_id == tasks.c.id)
)
_HAS_ENDED = allocations.c.ended_at.is_not(None)
# Trials have names in lists alone (config/task_kinds.py), so that people can look for them too.
_NUMBERS = "trial " + cast(tasks.c.trial_id, String) + " (experiment " + cast(tasks.c.experiment_id, String) + ")"
_NAME = case((tasks.c.trial_id.is_not(None), _NUMBERS), else_=func.coalesce(submitted_tasks.c.description, ""))
_WORDS = _NAME + " " + users.c.username + " " + jobs.c.pool + " " + tasks.c.type + " " + tasks.c.id


class ListedTask(msgspec.Struct, frozen=True):
    """Task with its job, its owner and its newest allocation."""

    task_id: str
    type: str
    trial_id: int | None
    experiment_id: int | None
    start_time: datetime
    end_time: datetime | None
    description: str | None
    task_state: str | None
    experiment_ids: list[int] | None
    trial_ids: list[int] | None
    job_id: str
    owner_id: int
    pool: str
    priority: int
    username: str
    display_name: str | None
    workspace_id: int
    workspace_name: str
    allocation_state: str
    slots: int
    ready_at: datetime | None
    exit_kind: str | None
    exit_reason: str | None


def find(conn: Connection, params: SearchTasks, *, limit: int | None = None, offset: int = 0) -> list[ListedTask]:
    """List the tasks that fit, in their order. `limit` and `offset` are rows, not those of `params`."""
    query = select(*_COLUMNS).select_from(_SOURCE).where(*_conditions(params))
    query = query.order_by(_HAS_ENDED, tasks.c.start_time.desc(), tasks.c.id).offset(offset)
    return fetch.rows(conn, query.limit(limit) if limit is not None else query, ListedTask)


def count(conn: Connection, params: SearchTasks) -> int:
    return conn.execute(select(func.count()).select_from(_SOURCE).where(*_conditions(params))).scalar_one()


_COLUMNS = (
    tasks.c.id.label("task_id"),
    tasks.c.type,
    tasks.c.trial_id,
    tasks.c.experiment_id,
    tasks.c.start_time,
    tasks.c.end_time,
    submitted_tasks.c.description,
    submitted_tasks.c.state.label("task_state"),
    submitted_tasks.c.experiment_ids,
    submitted_tasks.c.trial_ids,
    jobs.c.id.label("job_id"),
    jobs.c.owner_id,
    jobs.c.pool,
    jobs.c.priority,
    users.c.username,
    users.c.display_name,
    workspaces.c.id.label("workspace_id"),
    workspaces.c.name.label("workspace_name"),
    allocations.c.state.label("allocation_state"),
    allocations.c.slots,
    allocations.c.ready_at,
    allocations.c.exit_kind,
    allocations.c.exit_reason,
)


def _conditions(params: SearchTasks) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [
        tasks.c.id.in_(params.task_ids) if params.task_ids else or_(submitted_tasks.c.task_id.is_not(None), ~_HAS_ENDED)
    ]
    if params.task_types:
        conditions.append(tasks.c.type.in_([kind.name for kind in params.task_types]))
    if params.states:
        conditions.append(allocations.c.state.in_(_stored(params.states)))
    if params.user_ids:
        conditions.append(users.c.id.in_(params.user_ids))
    if params.workspace_id:
        conditions.append(workspaces.c.id == params.workspace_id)
    words = (params.text or "").split()[:_MOST_WORDS]
    return [*conditions, *(contains(_WORDS, word) for word in words)]


def _stored(states: list[AllocationState]) -> list[str]:
    return [name for state in states for name in (_QUEUED if state is AllocationState.QUEUED else (state.name,))]
