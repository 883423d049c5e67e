"""Tasks and their logs over HTTP."""

from collections.abc import Iterator

from determined.api.session import Session
from determined.wire.log import CLEANUP_LOGS, STREAM_TASK_LOGS, LogQuery, TaskLogsResponse
from determined.wire.task import GET_TASK, Task


def get(session: Session, task_id: str) -> Task:
    return session.call(GET_TASK, task_id=task_id).task


def logs(session: Session, task_id: str, params: LogQuery) -> Iterator[TaskLogsResponse]:
    return session.follow(STREAM_TASK_LOGS, params, task_id=task_id)


def exit_code(session: Session, task_id: str) -> int:
    """Return the exit status of a task that has ended: of its newest allocation, 1 where that has none."""
    newest = next(iter(get(session, task_id).allocations), None)
    return 1 if newest is None or newest.status_code is None else newest.status_code


def cleanup_logs(session: Session) -> int:
    return int(session.call(CLEANUP_LOGS).removed_count or 0)
