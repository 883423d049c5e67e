"""Tasks and their logs over HTTP."""

from collections.abc import Iterator
from typing import Any

from determined.api.paging import given
from determined.api.session import Session
from determined.wire.codec import convert
from determined.wire.log import TaskLogsResponse
from determined.wire.task import GetTaskResponse, Task


def get(session: Session, task_id: str) -> Task:
    return session.get_as(f"/api/v1/tasks/{task_id}", GetTaskResponse).task


def logs(session: Session, task_id: str, **filters: Any) -> Iterator[TaskLogsResponse]:
    for item in session.stream(f"/api/v1/tasks/{task_id}/logs", params=given(**filters)):
        yield convert(item, TaskLogsResponse)


def cleanup_logs(session: Session) -> int:
    answer: dict[str, Any] = session.post("/api/v1/cleanup_logs", {})
    return int(answer.get("removedCount") or 0)
