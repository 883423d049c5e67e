"""Submitted tasks as clients see them."""

from datetime import datetime
from typing import Protocol

from determined._json import JsonObject
from determined.config.task_kinds import KINDS
from determined.master.db.queries.submitted_task import TaskDetail
from determined.master.lifecycle.states import AllocationState as Stored
from determined.master.lifecycle.states import ExitKind
from determined.rundir.failure_cause import brief
from determined.wire.allocation import AllocationState
from determined.wire.codec import rfc3339, rfc3339_or_none
from determined.wire.command import Command
from determined.wire.tensorboard import Tensorboard

_QUEUED = (Stored.PENDING, Stored.ASSIGNED)
SUCCESS = "allocation exited successfully"
_WITHOUT_ERROR = (ExitKind.COMPLETED, ExitKind.KILLED, ExitKind.PREEMPTED)


class Placed(Protocol):
    """Columns of a task and its newest allocation."""

    @property
    def task_id(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def end_time(self) -> datetime | None: ...
    @property
    def allocation_state(self) -> str: ...
    @property
    def exit_kind(self) -> str | None: ...
    @property
    def exit_reason(self) -> str | None: ...


def fields_of(task: TaskDetail) -> JsonObject:
    """Return the fields that the wire structs of all kinds have."""
    return {
        "id": task.task_id,
        "description": task.description,
        "job_id": task.job_id,
        "resource_pool": task.pool,
        "start_time": rfc3339(task.start_time),
        "end_time": rfc3339_or_none(task.end_time),
        "state": state_of(task),
        "username": task.username,
        "display_name": task.display_name,
        "user_id": task.owner_id,
        "workspace_id": task.workspace_id,
        "exit_status": exit_status(task),
        "is_ready": task.ready_at is not None and task.end_time is None,
        "slots": task.slots,
        "priority": task.priority,
    }


def command(task: TaskDetail) -> Command:
    return Command(**fields_of(task))


def tensorboard(task: TaskDetail) -> Tensorboard:
    return Tensorboard(
        **fields_of(task),
        service_address=service_address(task),
        experiment_ids=task.experiment_ids or [],
        trial_ids=task.trial_ids or [],
    )


def service_address(task: Placed) -> str | None:
    """Return the path of the task's own service, if it has one."""
    return f"/proxy/{task.task_id}/" if KINDS[task.type].program else None


def state_of(task: Placed) -> AllocationState:
    stored = Stored(task.allocation_state)
    return AllocationState.QUEUED if stored in _QUEUED else AllocationState(f"STATE_{stored}")


def exit_status(task: Placed) -> str:
    if task.end_time is None:
        return ""
    return SUCCESS if task.exit_kind in _WITHOUT_ERROR else brief(task.exit_reason or "the task failed")
