"""Waiting for notebooks, TensorBoards, shells and commands (NTSC), by upstream's names."""

from collections.abc import Callable
from enum import Enum
from typing import Any

from determined.common.api import bindings
from determined.common.api._session import BaseSession
from determined.common.util import wait_for

DEFAULT_NTSC_TIMEOUT = 5 * 60  # seconds

AnyNTSC = bindings.v1Notebook | bindings.v1Tensorboard | bindings.v1Shell | bindings.v1Command
WARNING_MESSAGE_MAP = {
    bindings.v1LaunchWarning.CURRENT_SLOTS_EXCEEDED: (
        "Warning: the job asks for more slots than the cluster has now; it waits until there are enough."
    )
}


class NTSC_Kind(Enum):
    """Kind of a task that users start themselves."""

    notebook = "notebook"
    tensorboard = "tensorboard"
    shell = "shell"
    command = "command"


def get_ntsc_details(session: BaseSession, typ: NTSC_Kind, ntsc_id: str) -> AnyNTSC:
    """Read one task of a kind."""
    kind = NTSC_Kind(typ).value
    read: Callable[..., Any] = getattr(bindings, f"get_Get{kind.capitalize()}")
    task: AnyNTSC = getattr(read(session, **{f"{kind}Id": ntsc_id}), kind)
    return task


def wait_for_ntsc_state(
    session: BaseSession,
    typ: NTSC_Kind,
    ntsc_id: str,
    predicate: Callable[[bindings.taskv1State], bool],
    timeout: int = 10,
) -> bindings.taskv1State:
    """Wait until the state of a task fits. Raises TimeoutError after `timeout` seconds."""

    def look() -> tuple[bool, bindings.taskv1State]:
        state = get_ntsc_details(session, typ, ntsc_id).state
        return predicate(state), state

    found: bindings.taskv1State = wait_for(look, timeout)
    return found


def wait_for_task_ready(
    session: BaseSession,
    task_id: str,
    progress_report: Callable[[], Any] | None = None,
    timeout: int = DEFAULT_NTSC_TIMEOUT,
) -> str | None:
    """Wait until a task serves its page; return None, or what went wrong. Raises TimeoutError."""

    def look() -> tuple[bool, str | None]:
        task = bindings.get_GetTask(session, taskId=task_id).task
        if progress_report is not None:
            progress_report()
        if task.endTime is not None:
            return True, f"task {task_id} has ended"
        return bool(task.allocations and task.allocations[0].isReady), None

    problem: str | None = wait_for(look, timeout, interval=1)
    return problem
