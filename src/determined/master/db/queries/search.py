"""The event log of each search and its newest snapshot."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, insert, select

from determined.master.db.dialects import upsert
from determined.master.db.schema import search_events, search_snapshots


def last_event(conn: Connection, experiment_id: int) -> RowMapping | None:
    statement = (
        select(search_events)
        .where(search_events.c.experiment_id == experiment_id)
        .order_by(search_events.c.seq.desc())
        .limit(1)
    )
    return conn.execute(statement).mappings().one_or_none()


def events_after(conn: Connection, experiment_id: int, seq: int) -> Sequence[RowMapping]:
    statement = (
        select(search_events)
        .where(search_events.c.experiment_id == experiment_id, search_events.c.seq > seq)
        .order_by(search_events.c.seq)
    )
    return conn.execute(statement).mappings().all()


def append(conn: Connection, experiment_id: int, seq: int, events: Sequence[dict[str, Any]]) -> None:
    """The first gets number `seq`."""
    rows = [{"experiment_id": experiment_id, "seq": n, "event": event} for n, event in enumerate(events, seq)]
    conn.execute(insert(search_events), rows)


def snapshot_seq(conn: Connection, experiment_id: int) -> int | None:
    """The last event inside the snapshot; None when no search is going on. Does not load the snapshot itself."""
    statement = select(search_snapshots.c.seq).where(search_snapshots.c.experiment_id == experiment_id)
    return conn.execute(statement).scalar_one_or_none()


def snapshot(conn: Connection, experiment_id: int) -> Any:
    statement = select(search_snapshots.c.snapshot).where(search_snapshots.c.experiment_id == experiment_id)
    return conn.execute(statement).scalar_one()


def put_snapshot(conn: Connection, experiment_id: int, seq: int, state: dict[str, Any]) -> None:
    """Replace the snapshot and forget the events inside it, but for the last: it names the searcher's state."""
    upsert(
        conn,
        search_snapshots,
        {"experiment_id": experiment_id, "seq": seq, "snapshot": state},
        ["experiment_id"],
    )
    conn.execute(delete(search_events).where(search_events.c.experiment_id == experiment_id, search_events.c.seq < seq))


def forget(conn: Connection, experiment_id: int) -> None:
    """The search is over (or starts afresh)."""
    conn.execute(delete(search_events).where(search_events.c.experiment_id == experiment_id))
    conn.execute(delete(search_snapshots).where(search_snapshots.c.experiment_id == experiment_id))
