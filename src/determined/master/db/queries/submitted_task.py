"""Rows of submitted tasks: commands, notebooks, shells, TensorBoards, generic tasks."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    NotNullable,
    bindparam,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.prepared import prepare
from determined.master.db.rows.submitted_tasks import SubmittedTask, SubmittedTaskValues
from determined.master.db.schema import allocations, jobs, submitted_tasks, task_contexts, tasks, users
from determined.master.db.statements import AnyColumn
from determined.wire.base import OrderBy
from determined.wire.submitted_task import ListSubmittedTasks, SortTasksBy

_newest = allocations.alias("newest")
_LAST_RUN = select(func.max(_newest.c.run_id)).where(_newest.c.task_id == tasks.c.id).scalar_subquery()
_SOURCE = (
    submitted_tasks.join(tasks, tasks.c.id == submitted_tasks.c.task_id)
    .join(jobs, jobs.c.id == tasks.c.job_id)
    .join(users, users.c.id == jobs.c.owner_id)
    .join(allocations, (allocations.c.task_id == tasks.c.id) & (allocations.c.run_id == _LAST_RUN))
)
_DETAILS = select(
    submitted_tasks,
    tasks.c.type,
    tasks.c.start_time,
    tasks.c.end_time,
    jobs.c.id.label("job_id"),
    jobs.c.owner_id,
    jobs.c.workspace_id,
    jobs.c.pool,
    jobs.c.priority,
    users.c.username,
    users.c.display_name,
    allocations.c.id.label("allocation_id"),
    allocations.c.state.label("allocation_state"),
    allocations.c.slots,
    allocations.c.ready_at,
    allocations.c.exit_kind,
    allocations.c.exit_reason,
).select_from(_SOURCE)
# The spec of every task asks these.
_FIND = prepare(select(submitted_tasks).where(submitted_tasks.c.task_id == bindparam("this")))
_DETAIL = prepare(_DETAILS.where(submitted_tasks.c.task_id == bindparam("this")))
_SORT_KEYS: dict[SortTasksBy, AnyColumn] = {
    SortTasksBy.ID: submitted_tasks.c.task_id,
    SortTasksBy.DESCRIPTION: submitted_tasks.c.description,
    SortTasksBy.START_TIME: tasks.c.start_time,
    SortTasksBy.WORKSPACE_ID: jobs.c.workspace_id,
}


class TaskDetail(SubmittedTask, frozen=True):
    """Submitted task with its job, its owner and its newest allocation."""

    type: str
    start_time: datetime
    end_time: datetime | None
    job_id: str
    owner_id: int
    workspace_id: int
    pool: str
    priority: int
    username: str
    display_name: str | None
    allocation_id: str
    allocation_state: str
    slots: int
    ready_at: datetime | None
    exit_kind: str | None
    exit_reason: str | None


class LiveTask(msgspec.Struct, frozen=True):
    task_id: str
    owner_id: int
    pool: str


class ServedTask(msgspec.Struct, frozen=True):
    """Task whose service can be used."""

    task_id: str
    type: str
    config: JsonObject
    allocation_id: str
    ready_at: datetime
    last_active: datetime | None


def insert_row(conn: Connection, values: SubmittedTaskValues) -> None:
    conn.execute(insert(submitted_tasks).values(**values))


def update_row(conn: Connection, task_id: str, values: SubmittedTaskValues) -> None:
    conn.execute(update(submitted_tasks).where(submitted_tasks.c.task_id == task_id).values(**values))


def find(conn: Connection, task_id: str) -> SubmittedTask | None:
    return fetch.row(conn, _FIND, SubmittedTask, {"this": task_id})


def get(conn: Connection, task_id: str) -> SubmittedTask:
    """Return the submitted task. Raises NotFound."""
    return fetch.existing(find(conn, task_id), f"task '{task_id}' not found")


def detail(conn: Connection, task_id: str) -> TaskDetail | None:
    return fetch.row(conn, _DETAIL, TaskDetail, {"this": task_id})


def find_page(
    conn: Connection, kind: str, params: ListSubmittedTasks, *, limit: int | None = None, offset: int = 0
) -> list[TaskDetail]:
    """List tasks of a kind that fit, in their order. `limit` and `offset` are rows, not those of `params`."""
    query = _DETAILS.where(*_conditions(kind, params))
    key, tie = _SORT_KEYS.get(params.sort_by or SortTasksBy.ID, submitted_tasks.c.task_id), submitted_tasks.c.task_id
    order = [key.desc(), tie.desc()] if params.order_by is OrderBy.DESC else [key.asc(), tie.asc()]
    query = query.order_by(*order).offset(offset)
    return fetch.rows(conn, query.limit(limit) if limit is not None else query, TaskDetail)


def count(conn: Connection, kind: str, params: ListSubmittedTasks) -> int:
    query = select(func.count()).select_from(_SOURCE).where(*_conditions(kind, params))
    return conn.execute(query).scalar_one()


def live(conn: Connection, workspace_id: int | None = None) -> list[LiveTask]:
    """List the tasks that have not ended, of one workspace or of all."""
    query = (
        select(submitted_tasks.c.task_id, jobs.c.owner_id, jobs.c.pool)
        .join(tasks, tasks.c.id == submitted_tasks.c.task_id)
        .join(jobs, jobs.c.id == tasks.c.job_id)
        .where(tasks.c.end_time.is_(None))
        .order_by(submitted_tasks.c.task_id)
    )
    if workspace_id is not None:
        query = query.where(jobs.c.workspace_id == workspace_id)
    return fetch.rows(conn, query, LiveTask)


def served(conn: Connection, kinds: Sequence[str]) -> list[ServedTask]:
    """List the live tasks of these kinds whose service has answered."""
    query = (
        select(
            submitted_tasks.c.task_id,
            tasks.c.type,
            submitted_tasks.c.config,
            allocations.c.id.label("allocation_id"),
            NotNullable(allocations.c.ready_at),
            submitted_tasks.c.last_active,
        )
        .join(tasks, tasks.c.id == submitted_tasks.c.task_id)
        .join(allocations, allocations.c.task_id == tasks.c.id)
        .where(tasks.c.end_time.is_(None), tasks.c.type.in_(kinds))
        .where(allocations.c.ended_at.is_(None), allocations.c.ready_at.is_not(None))
        .order_by(submitted_tasks.c.task_id)
    )
    return fetch.rows(conn, query, ServedTask)


def descendants(conn: Connection, task_id: str) -> Sequence[str]:
    """Return the ids of a task's children, of theirs, and so on; parents first."""
    below = select(submitted_tasks.c.task_id, literal(1).label("depth")).where(submitted_tasks.c.parent_id == task_id)
    family = below.cte("family", recursive=True)
    deeper = select(submitted_tasks.c.task_id, family.c.depth + 1).where(
        submitted_tasks.c.parent_id == family.c.task_id
    )
    family = family.union_all(deeper)
    return conn.execute(select(family.c.task_id).order_by(family.c.depth, family.c.task_id)).scalars().all()


def topmost(conn: Connection, task_id: str) -> str:
    """Return the ancestor that has no parent; the task itself if it has none."""
    own = select(submitted_tasks.c.task_id, submitted_tasks.c.parent_id).where(submitted_tasks.c.task_id == task_id)
    line = own.cte("line", recursive=True)
    above = select(submitted_tasks.c.task_id, submitted_tasks.c.parent_id).where(
        submitted_tasks.c.task_id == line.c.parent_id
    )
    line = line.union_all(above)
    found: str = conn.execute(select(line.c.task_id).where(line.c.parent_id.is_(None))).scalar_one()
    return found


def of_job(conn: Connection, job_id: str) -> str | None:
    """Return the submitted task of a job."""
    query = (
        select(submitted_tasks.c.task_id)
        .join(tasks, tasks.c.id == submitted_tasks.c.task_id)
        .where(tasks.c.job_id == job_id)
    )
    return conn.execute(query).scalar_one_or_none()


def put_context(conn: Connection, task_id: str, tgz: bytes) -> None:
    conn.execute(insert(task_contexts).values(task_id=task_id, tgz=tgz))


def context(conn: Connection, task_id: str) -> bytes | None:
    return conn.execute(select(task_contexts.c.tgz).where(task_contexts.c.task_id == task_id)).scalar_one_or_none()


def delete_context(conn: Connection, task_id: str) -> None:
    conn.execute(delete(task_contexts).where(task_contexts.c.task_id == task_id))


def _conditions(kind: str, params: ListSubmittedTasks) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [tasks.c.type == kind]
    if params.workspace_id:
        conditions.append(jobs.c.workspace_id == params.workspace_id)
    if params.users or params.user_ids:
        named, numbered = users.c.username.in_(params.users or ()), users.c.id.in_(params.user_ids or ())
        conditions.append(or_(named, numbered))
    return conditions
