"""Operations that searches asked for and that are not done yet. Row 0 holds none: it asks to look at trials again."""

from collections.abc import Sequence

import msgspec
from sqlalchemy import ColumnElement, Connection, bindparam, delete, exists, func, insert, select

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.dialects import upsert
from determined.master.db.prepared import prepare
from determined.master.db.queries.batching import batches
from determined.master.db.rows.experiments import SearchQueueEntry
from determined.master.db.schema import search_queue

_ROWS_AT_ONCE = 50  # of some 20 kB each: the driver gets copies
_number = search_queue.c.n
# Every event of a search asks these.
_HAS_OPERATIONS = prepare(select(exists().where(search_queue.c.experiment_id == bindparam("experiment"), _number > 0)))
_WAITING = prepare(select(search_queue.c.experiment_id).distinct())


def put(conn: Connection, experiment_id: int, pieces: Sequence[msgspec.Raw]) -> None:
    """Queue operations, each piece (a list, encoded as JSON) for one transaction, behind what is there."""
    newest = conn.execute(select(func.max(_number)).where(_mine(experiment_id))).scalar_one() if pieces else None
    for some in batches([*enumerate(pieces, (newest or 0) + 1)], _ROWS_AT_ONCE):
        rows = [{"experiment_id": experiment_id, "n": n, "operations": piece} for n, piece in some]
        conn.execute(insert(search_queue), rows)


def take(conn: Connection, experiment_id: int) -> list[JsonObject]:
    """Remove the first piece and return it; empty where none waits."""
    first = select(search_queue).where(_mine(experiment_id), _number > 0).order_by(_number).limit(1)
    entry = fetch.row(conn, first, SearchQueueEntry)
    if entry is None:
        return []
    conn.execute(delete(search_queue).where(_mine(experiment_id), _number == entry.n))
    return entry.operations


def has_operations(conn: Connection, experiment_id: int) -> bool:
    return bool(fetch.scalar(conn, _HAS_OPERATIONS, {"experiment": experiment_id}))


def drop_operations(conn: Connection, experiment_id: int) -> None:
    conn.execute(delete(search_queue).where(_mine(experiment_id), _number > 0))


def mark(conn: Connection, experiment_id: int) -> None:
    """Ask for another look at the experiment's trials."""
    upsert(conn, search_queue, {"experiment_id": experiment_id, "n": 0, "operations": []}, ["experiment_id", "n"])


def unmark(conn: Connection, experiment_id: int) -> bool:
    """Remove the mark of an experiment; return whether it was marked."""
    return conn.execute(delete(search_queue).where(_mine(experiment_id), _number == 0)).rowcount > 0


def is_waiting(conn: Connection, experiment_id: int) -> bool:
    """Return whether anything is left to do."""
    return bool(conn.execute(select(exists().where(_mine(experiment_id)))).scalar_one())


def experiments(conn: Connection) -> Sequence[int]:
    """Return the experiments of which anything is left to do."""
    return [experiment_id for (experiment_id,) in fetch.tuples(conn, _WAITING)]


def _mine(experiment_id: int) -> ColumnElement[bool]:
    return search_queue.c.experiment_id == experiment_id
