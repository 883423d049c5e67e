"""What searches have asked for and is not done yet. Row 0 holds no operations: trials are to be looked at once more."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, exists, func, insert, select

from determined.master.db.dialects import upsert
from determined.master.db.schema import search_queue

_N = search_queue.c.n


def put(conn: Connection, experiment_id: int, pieces: Sequence[list[dict[str, Any]]]) -> None:
    """Operations as JSON carries them, each piece for one transaction, behind what is there."""
    if not pieces:
        return
    newest = conn.execute(select(func.max(_N)).where(_mine(experiment_id))).scalar_one()
    rows = [
        {"experiment_id": experiment_id, "n": n, "operations": piece}
        for n, piece in enumerate(pieces, (newest or 0) + 1)
    ]
    conn.execute(insert(search_queue), rows)


def take(conn: Connection, experiment_id: int) -> list[dict[str, Any]]:
    """Remove the first piece and return it; empty where none waits."""
    first = select(search_queue).where(_mine(experiment_id), _N > 0).order_by(_N).limit(1)
    row: RowMapping | None = conn.execute(first).mappings().one_or_none()
    if row is None:
        return []
    conn.execute(delete(search_queue).where(_mine(experiment_id), row["n"] == _N))
    found: list[dict[str, Any]] = row["operations"]
    return found


def has_operations(conn: Connection, experiment_id: int) -> bool:
    return bool(conn.execute(select(exists().where(_mine(experiment_id), _N > 0))).scalar_one())


def drop_operations(conn: Connection, experiment_id: int) -> None:
    conn.execute(delete(search_queue).where(_mine(experiment_id), _N > 0))


def mark(conn: Connection, experiment_id: int) -> None:
    """Ask for another look at the experiment's trials."""
    upsert(conn, search_queue, {"experiment_id": experiment_id, "n": 0, "operations": []}, ["experiment_id", "n"])


def unmark(conn: Connection, experiment_id: int) -> bool:
    """Whether it was marked."""
    return conn.execute(delete(search_queue).where(_mine(experiment_id), _N == 0)).rowcount > 0


def is_waiting(conn: Connection, experiment_id: int) -> bool:
    """Whether anything is left to do."""
    return bool(conn.execute(select(exists().where(_mine(experiment_id)))).scalar_one())


def experiments(conn: Connection) -> Sequence[int]:
    """Those of which anything is left to do."""
    return conn.execute(select(search_queue.c.experiment_id).distinct()).scalars().all()


def _mine(experiment_id: int) -> Any:
    return search_queue.c.experiment_id == experiment_id
