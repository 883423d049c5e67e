"""Rows of submitted tasks: commands, notebooks, shells, TensorBoards, generic tasks."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, func, insert, or_, select, update

from determined.errors import NotFound
from determined.master.db import fetch
from determined.master.db.rows.submitted_tasks import SubmittedTask, SubmittedTaskValues
from determined.master.db.schema import allocations, jobs, submitted_tasks, task_contexts, tasks, users
from determined.master.db.statements import AnyColumn
from determined.wire.base import OrderBy
from determined.wire.submitted_task import ListSubmittedTasks, SortTasksBy

_newest = allocations.alias("newest")
_LAST_RUN = select(func.max(_newest.c.run_id)).where(_newest.c.task_id == tasks.c.id).scalar_subquery()
_DETAILS = (
    select(
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
    )
    .join(tasks, tasks.c.id == submitted_tasks.c.task_id)
    .join(jobs, jobs.c.id == tasks.c.job_id)
    .join(users, users.c.id == jobs.c.owner_id)
    .join(allocations, (allocations.c.task_id == tasks.c.id) & (allocations.c.run_id == _LAST_RUN))
)
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


def insert_row(conn: Connection, values: SubmittedTaskValues) -> None:
    conn.execute(insert(submitted_tasks).values(**values))


def update_row(conn: Connection, task_id: str, values: SubmittedTaskValues) -> None:
    conn.execute(update(submitted_tasks).where(submitted_tasks.c.task_id == task_id).values(**values))


def find(conn: Connection, task_id: str) -> SubmittedTask | None:
    return fetch.row(conn, select(submitted_tasks).where(submitted_tasks.c.task_id == task_id), SubmittedTask)


def get(conn: Connection, task_id: str) -> SubmittedTask:
    """Return the submitted task. Raises NotFound."""
    row = find(conn, task_id)
    if row is None:
        raise NotFound(f"task '{task_id}' not found")
    return row


def detail(conn: Connection, task_id: str) -> TaskDetail | None:
    return fetch.row(conn, _DETAILS.where(submitted_tasks.c.task_id == task_id), TaskDetail)


def list_all(conn: Connection, kind: str, params: ListSubmittedTasks) -> list[TaskDetail]:
    """List the tasks of a kind that fit, in their order."""
    query = _DETAILS.where(tasks.c.type == kind)
    if params.workspace_id:
        query = query.where(jobs.c.workspace_id == params.workspace_id)
    if params.users or params.user_ids:
        query = query.where(or_(users.c.username.in_(params.users or ()), users.c.id.in_(params.user_ids or ())))
    key, tie = _SORT_KEYS.get(params.sort_by or SortTasksBy.ID, submitted_tasks.c.task_id), submitted_tasks.c.task_id
    order = [key.desc(), tie.desc()] if params.order_by is OrderBy.DESC else [key.asc(), tie.asc()]
    return fetch.rows(conn, query.order_by(*order), TaskDetail)


def live_in_workspace(conn: Connection, workspace_id: int) -> Sequence[str]:
    """Return the ids of tasks in a workspace that have not ended."""
    query = (
        select(submitted_tasks.c.task_id)
        .join(tasks, tasks.c.id == submitted_tasks.c.task_id)
        .join(jobs, jobs.c.id == tasks.c.job_id)
        .where(jobs.c.workspace_id == workspace_id, tasks.c.end_time.is_(None))
    )
    return conn.execute(query).scalars().all()


def children(conn: Connection, task_id: str) -> Sequence[str]:
    query = select(submitted_tasks.c.task_id).where(submitted_tasks.c.parent_id == task_id)
    return conn.execute(query.order_by(submitted_tasks.c.task_id)).scalars().all()


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
