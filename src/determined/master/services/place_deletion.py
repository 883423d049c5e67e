"""Deleting a workspace or a project with the experiments in it: checked at once, done by background/deletion.py."""

from collections.abc import Sequence

from sqlalchemy import Connection, Row

from determined.errors import FailedPrecondition, Forbidden
from determined.master.auth.identity import Caller
from determined.master.db.queries import place_deletion as queries
from determined.master.db.queries.place_deletion import Place
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


def _ids(rows: Sequence[Row[int, int, str, str | None]]) -> str:
    shown = ", ".join(str(row.id) for row in rows[:_NAMED])
    return shown if len(rows) <= _NAMED else f"{shown} and {len(rows) - _NAMED} more"
