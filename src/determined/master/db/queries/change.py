"""What changed since a number, as the triggers of revision 0005 wrote it down; and how far back that is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, delete, func, select

from determined.master.db.queries import cluster
from determined.master.db.queries.batching import batches
from determined.master.db.schema import changes

HORIZON = "changes_horizon"  # key in `cluster`: tombstones up to this number may have been swept away
_C = changes.c
_COLUMNS = (_C.noun, _C.id, _C.parent, _C.value, _C.seq, _C.deleted)


@dataclass(frozen=True, slots=True)
class Change:
    """The newest change of one thing."""

    noun: str
    id: str
    parent: int | None
    value: int | None
    seq: int
    deleted: bool


def newest(conn: Connection) -> int:
    """The number of the last change; 0 when nothing has ever changed."""
    return int(conn.execute(select(func.max(_C.seq))).scalar_one() or 0)


def horizon(conn: Connection) -> int:
    """Whoever has seen everything up to this number or a later one can be told of every deletion since."""
    return int(cluster.get(conn, HORIZON) or 0)


def since(conn: Connection, seq: int, limit: int) -> list[Change]:
    """In the order of commits, the oldest first."""
    query = select(*_COLUMNS).where(_C.seq > seq).order_by(_C.seq).limit(limit)
    return _read(conn, query)


def of_noun(
    conn: Connection, noun: str, seq: int, *, ids: Sequence[str] | None = None, parents: Sequence[int] = ()
) -> list[Change]:
    """Changes of one noun after `seq`: of all its things (`ids` None), or of those with one of the ids or parents."""
    if ids is None:
        return _read(conn, _noun(noun, seq).order_by(_C.seq))
    found: dict[str, Change] = {}
    for some in batches(list(ids)):
        found |= {c.id: c for c in _read(conn, _noun(noun, seq).where(_C.id.in_(some)))}
    for owners in batches(list(parents)):
        found |= {c.id: c for c in _read(conn, _noun(noun, seq).where(_C.parent.in_(owners)))}
    return sorted(found.values(), key=lambda c: c.seq)


def sweep(conn: Connection, keep: int) -> int:
    """Forget all but the newest `keep` tombstones; answers how many went."""
    oldest = select(_C.seq).where(_C.deleted.is_(True)).order_by(_C.seq.desc()).offset(keep).limit(1)
    limit = conn.execute(oldest).scalar_one_or_none()
    if limit is None:
        return 0
    cluster.put(conn, HORIZON, limit)
    return conn.execute(delete(changes).where(_C.deleted.is_(True), _C.seq <= limit)).rowcount


def _noun(noun: str, seq: int) -> Select[*tuple[Any, ...]]:
    return select(*_COLUMNS).where(_C.noun == noun, _C.seq > seq)


def _read(conn: Connection, query: Select[*tuple[Any, ...]]) -> list[Change]:
    return [Change(*row) for row in conn.execute(query)]
