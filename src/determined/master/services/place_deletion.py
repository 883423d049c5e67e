"""Deleting a workspace or a project with the experiments in it: checked at once, done by background/deletion.py."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, Row

from determined.errors import FailedPrecondition, Forbidden
from determined.master.auth.identity import Caller
from determined.master.db.queries import place_deletion as queries
from determined.master.db.queries import submitted_task as submitted_tasks
from determined.master.db.queries.place_deletion import Place
from determined.master.lifecycle import submitted_task
from determined.master.lifecycle.states import DELETION, TERMINAL

_NAMED = 5  # experiments that a message names


def begin(conn: Connection, caller: Caller, place: Place, what: str) -> bool:
    """Mark a place for deletion; True where nothing is in it and the caller may remove it at once.

    Raises:
        Forbidden: it holds experiments of others, whose checkpoints would go.
        FailedPrecondition: it holds experiments that are not over.
    """
    held = queries.experiments_in(conn, place)
    if not held:
        return True
    foreign = [row for row in held if row.owner_id != caller.user_id and not caller.admin]
    if foreign:
        raise Forbidden(
            f"{what} holds experiments of others ({_ids(foreign)}); ask an administrator, or move them first"
        )
    live = [row for row in held if row.state not in TERMINAL | DELETION]
    if live:
        raise FailedPrecondition(f"{what} holds experiments that are not over ({_ids(live)}); kill or move them first")
    queries.mark(conn, place, queries.DELETING)
    return False


def end_tasks(conn: Connection, now: datetime, caller: Caller, workspace_id: int, what: str) -> None:
    """Kill the commands, notebooks and other submitted tasks of a workspace that is being deleted.

    Raises:
        Forbidden: some are of others; only an administrator may end those.
    """
    live = submitted_tasks.live(conn, workspace_id)
    foreign = [task for task in live if task.owner_id != caller.user_id and not caller.admin]
    if foreign:
        raise Forbidden(f"tasks of others run in {what} ({len(foreign)}); ask an administrator, or wait for their end")
    for task in live:
        submitted_task.kill(conn, now, task.task_id, f"{what} was deleted")


def _ids(rows: Sequence[Row[int, int, str, str | None]]) -> str:
    shown = ", ".join(str(row.id) for row in rows[:_NAMED])
    return shown if len(rows) <= _NAMED else f"{shown} and {len(rows) - _NAMED} more"
