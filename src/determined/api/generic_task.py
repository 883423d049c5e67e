"""Generic tasks over HTTP."""

from determined.api.session import Session
from determined.wire.generic_task import (
    CREATE_GENERIC_TASK,
    GET_GENERIC_TASK_CONFIG,
    KILL_GENERIC_TASK,
    PAUSE_GENERIC_TASK,
    UNPAUSE_GENERIC_TASK,
    CreateGenericTaskRequest,
    KillGenericTaskRequest,
)


def create(session: Session, request: CreateGenericTaskRequest) -> str:
    """Submit, and return the id of the task."""
    return session.call(CREATE_GENERIC_TASK, request).task_id


def config(session: Session, task_id: str) -> str:
    """Return the config as it was submitted, in JSON."""
    return session.call(GET_GENERIC_TASK_CONFIG, task_id=task_id).config


def kill(session: Session, task_id: str, *, from_root: bool = False) -> None:
    session.call(KILL_GENERIC_TASK, KillGenericTaskRequest(task_id=task_id, kill_from_root=from_root), task_id=task_id)


def pause(session: Session, task_id: str) -> None:
    session.call(PAUSE_GENERIC_TASK, task_id=task_id)


def unpause(session: Session, task_id: str) -> None:
    session.call(UNPAUSE_GENERIC_TASK, task_id=task_id)
