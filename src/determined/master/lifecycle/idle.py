"""Idle timeouts of notebooks, shells and TensorBoards."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config.job import JobConfig
from determined.config.task_kinds import KINDS, NOTEBOOK, TENSORBOARD
from determined.master.config import MasterConfig
from determined.master.db.queries import submitted_task as submitted_tasks
from determined.master.db.queries.submitted_task import ServedTask
from determined.master.lifecycle import submitted_task

WATCHED = tuple(kind.name for kind in KINDS.values() if kind.program)
_SHORTEST_REPORTED = 60.0  # seconds; programs report each 30 s, so that a shorter timeout would end tasks in use
_WRITTEN_AFTER = timedelta(seconds=30)  # of use: an older time in the row costs a task so much of its timeout

LastUse = Callable[[str], datetime | None]


@dataclass(slots=True)
class Findings:
    """Timeouts of tasks that were not used for so long, uses that the rows do not know, and all tasks looked at."""

    timeouts: dict[str, float] = field(default_factory=dict)
    uses: dict[str, datetime] = field(default_factory=dict)
    watched: set[str] = field(default_factory=set)


def idle_timeout(config: MasterConfig, kind: str, task_config: JsonObject) -> float | None:
    """Return after how many seconds without use a task is ended; None: never.

    The task's own config counts, else the cluster's default for its kind. 0 stands for never.
    """
    if not KINDS[kind].program:
        return None
    own = JobConfig.load(task_config).idle_timeout
    defaults = {NOTEBOOK.name: config.notebook_timeout, TENSORBOARD.name: config.tensorboard_timeout}
    timeout = defaults.get(kind) if own is None else own
    if not timeout:
        return None
    return max(timeout, _SHORTEST_REPORTED) if KINDS[kind].reports_use else timeout


def look(conn: Connection, now: datetime, config: MasterConfig, used: LastUse, since: datetime) -> Findings:
    """Compare the last use of every task that has a service with its timeout.

    Args:
        used: last request through the proxy, as far as this master knows.
        since: start of this master. Nobody could use a task while it was away.
    """
    found = Findings()
    for task in submitted_tasks.served(conn, WATCHED):
        moment, timeout = used(task.task_id), idle_timeout(config, task.type, task.config)
        found.watched.add(task.task_id)
        if timeout is not None and now - _last_use(task, moment, since) > timedelta(seconds=timeout):
            found.timeouts[task.task_id] = timeout
        elif moment is not None and (task.last_active is None or moment - task.last_active >= _WRITTEN_AFTER):
            found.uses[task.task_id] = moment
    return found


def act(conn: Connection, now: datetime, found: Findings) -> None:
    """End what is idle, and write down what was used."""
    for task_id, timeout in found.timeouts.items():
        submitted_task.kill(conn, now, task_id, f"idle for more than {go_duration(timeout)}: service is inactive")
    for task_id, moment in found.uses.items():
        submitted_tasks.update_row(conn, task_id, {"last_active": moment})


def _last_use(task: ServedTask, used: datetime | None, since: datetime) -> datetime:
    return max(moment for moment in (task.ready_at, task.last_active, used, since) if moment is not None)


def go_duration(seconds: float) -> str:
    """Write a duration as upstream does: 30m0s, 1h0m0s, 45s."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{hours}h"] if hours else []
    parts += [f"{minutes}m"] if hours or minutes else []
    return "".join([*parts, f"{rest}s"])
