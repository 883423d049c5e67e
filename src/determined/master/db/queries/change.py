"""Changes since a number, written by the triggers of revision 0005, and the number from which all are known."""

from collections.abc import Sequence

from sqlalchemy import Connection, Select, delete, func, select

from determined.master.db import fetch
from determined.master.db.queries import cluster
from determined.master.db.queries.batching import batches
from determined.master.db.rows.changes import Change
from determined.master.db.schema import changes

HORIZON = "changes_horizon"  # key in `cluster`: tombstones up to this number may have been swept away
_C = changes.c


def newest(conn: Connection) -> int:
    """Return the number of the last change; 0 when nothing has ever changed."""
    return conn.execute(select(func.max(_C.seq))).scalar_one() or 0


def horizon(conn: Connection) -> int:
    """Return the number from which on every deletion is known; clients that saw less must start anew."""
    stored = cluster.get(conn, HORIZON)
    return stored if isinstance(stored, int) else 0


def since(conn: Connection, seq: int, limit: int) -> list[Change]:
    """List changes in the order of commits, the oldest first."""
    query = select(changes).where(_C.seq > seq).order_by(_C.seq).limit(limit)
    return fetch.rows(conn, query, Change)


def of_noun(
    conn: Connection,
    noun: str,
    seq: int,
    *,
    ids: Sequence[str] | None = None,
    parents: Sequence[int] = (),
    users: Sequence[int] = (),
) -> list[Change]:
    """List changes of one noun after `seq`: of everything (`ids` None), or of what has an id, parent or user named."""
    if ids is None:
        return fetch.rows(conn, _noun(noun, seq).order_by(_C.seq), Change)
    by_id: dict[str, Change] = {}
    for some in batches(list(ids)):
        by_id |= {c.id: c for c in fetch.rows(conn, _noun(noun, seq).where(_C.id.in_(some)), Change)}
    for owners in batches(list(parents)):
        by_id |= {c.id: c for c in fetch.rows(conn, _noun(noun, seq).where(_C.parent.in_(owners)), Change)}
    for people in batches(list(users)):
        by_id |= {c.id: c for c in fetch.rows(conn, _noun(noun, seq).where(_C.value.in_(people)), Change)}
    return sorted(by_id.values(), key=lambda c: c.seq)


def sweep(conn: Connection, keep: int) -> int:
    """Forget all but the newest `keep` tombstones; return how many went."""
    oldest = select(_C.seq).where(_C.deleted.is_(True)).order_by(_C.seq.desc()).offset(keep).limit(1)
    limit = conn.execute(oldest).scalar_one_or_none()
    if limit is None:
        return 0
    cluster.put(conn, HORIZON, limit)
    return conn.execute(delete(changes).where(_C.deleted.is_(True), _C.seq <= limit)).rowcount


def _noun(noun: str, seq: int) -> Select[int, str, str, int | None, int | None, bool]:
    return select(changes).where(_C.noun == noun, _C.seq > seq)
