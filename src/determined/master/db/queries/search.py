"""The event log of each search, its newest snapshot, and what it has learnt from its trials (history)."""

from collections.abc import Sequence

from sqlalchemy import BigInteger, Connection, bindparam, delete, func, insert, or_, select

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.dialects import upsert
from determined.master.db.prepared import prepare
from determined.master.db.queries.batching import batches
from determined.master.db.rows.experiments import SearchEvent, SearchHistoryEntry
from determined.master.db.schema import experiments, search_events, search_history, search_snapshots
from determined.search.registry import searcher_names

# Statements that every event of a search needs.
_EXPERIMENT = bindparam("experiment", type_=BigInteger)
_LAST_EVENT = prepare(
    select(search_events)
    .where(search_events.c.experiment_id == _EXPERIMENT)
    .order_by(search_events.c.seq.desc())
    .limit(1)
)
_INSERT = prepare(insert(search_events))
_SNAPSHOT_SEQ = prepare(select(search_snapshots.c.seq).where(search_snapshots.c.experiment_id == _EXPERIMENT))
_SAMPLED = prepare(
    select(experiments.c.id)
    .where(
        experiments.c.state == "ACTIVE",
        experiments.c.unmanaged.is_(False),
        or_(
            experiments.c.config["searcher"]["sampler"].as_string().is_not(None),
            *(
                experiments.c.config["searcher"]["name"].as_string() == name
                for name in searcher_names(lambda searcher: searcher.has_model)
            ),
        ),
    )
    .order_by(experiments.c.id)
)
_NEWEST_ENTRY = prepare(
    select(func.coalesce(func.max(search_history.c.n), 0)).where(search_history.c.experiment_id == _EXPERIMENT)
)
_INSERT_ENTRY = prepare(insert(search_history))


def last_event(conn: Connection, experiment_id: int) -> SearchEvent | None:
    return fetch.row(conn, _LAST_EVENT, SearchEvent, {"experiment": experiment_id})


def events_after(conn: Connection, experiment_id: int, seq: int) -> list[SearchEvent]:
    statement = (
        select(search_events)
        .where(search_events.c.experiment_id == experiment_id, search_events.c.seq > seq)
        .order_by(search_events.c.seq)
    )
    return fetch.rows(conn, statement, SearchEvent)


def event_at(conn: Connection, experiment_id: int, seq: int) -> JsonObject | None:
    statement = select(search_events.c.event).where(
        search_events.c.experiment_id == experiment_id, search_events.c.seq == seq
    )
    return conn.execute(statement).scalar_one_or_none()


def append(conn: Connection, experiment_id: int, seq: int, events: Sequence[JsonObject]) -> None:
    """Append events; the first gets number `seq`."""
    rows = [{"experiment_id": experiment_id, "seq": n, "event": event} for n, event in enumerate(events, seq)]
    fetch.change_each(conn, _INSERT, rows)


def snapshot_seq(conn: Connection, experiment_id: int) -> int | None:
    """Return the last event inside the snapshot; None when no search is going on. Does not load the snapshot itself."""
    return fetch.scalar(conn, _SNAPSHOT_SEQ, {"experiment": experiment_id})


def snapshot(conn: Connection, experiment_id: int) -> JsonObject:
    statement = select(search_snapshots.c.snapshot).where(search_snapshots.c.experiment_id == experiment_id)
    return conn.execute(statement).scalar_one()


def put_snapshot(conn: Connection, experiment_id: int, seq: int, state: JsonObject) -> None:
    """Replace the snapshot and forget the events inside it, but for the last: it names the searcher's state."""
    upsert(
        conn,
        search_snapshots,
        {"experiment_id": experiment_id, "seq": seq, "snapshot": state},
        ["experiment_id"],
    )
    conn.execute(delete(search_events).where(search_events.c.experiment_id == experiment_id, search_events.c.seq < seq))


def forget(conn: Connection, experiment_id: int) -> None:
    """Forget a search that is over (or starts afresh); its history stays."""
    conn.execute(delete(search_events).where(search_events.c.experiment_id == experiment_id))
    conn.execute(delete(search_snapshots).where(search_snapshots.c.experiment_id == experiment_id))


def active_with_sampler(conn: Connection) -> Sequence[int]:
    """Running experiments whose trials get their points from a model."""
    return [experiment_id for (experiment_id,) in fetch.tuples(conn, _SAMPLED)]


def append_history(
    conn: Connection, experiment_id: int, events: Sequence[JsonObject], *, pending: bool = False
) -> None:
    """Append events, in order, behind what is there. One without an `id` is of no trial, but of the whole search."""
    if not events:
        return
    first = (fetch.scalar(conn, _NEWEST_ENTRY, {"experiment": experiment_id}) or 0) + 1
    rows = [
        {"experiment_id": experiment_id, "n": n, "request_id": event.get("id", ""), "event": event, "pending": pending}
        for n, event in enumerate(events, first)
    ]
    fetch.change_each(conn, _INSERT_ENTRY, rows)


def history(conn: Connection, experiment_id: int) -> list[SearchHistoryEntry]:
    statement = select(search_history).where(search_history.c.experiment_id == experiment_id)
    return fetch.rows(conn, statement.order_by(search_history.c.n), SearchHistoryEntry)


def pending_history(conn: Connection, experiment_id: int, request_ids: Sequence[str]) -> list[SearchHistoryEntry]:
    """Return the events of these trials that are not replayed yet, in order."""
    entries: list[SearchHistoryEntry] = []
    for some in batches(request_ids):
        chosen = [
            search_history.c.experiment_id == experiment_id,
            search_history.c.pending.is_(True),
            search_history.c.request_id.in_(some),
        ]
        entries += fetch.rows(conn, select(search_history).where(*chosen), SearchHistoryEntry)
    return sorted(entries, key=lambda entry: entry.n)


def drop_history(conn: Connection, experiment_id: int, numbers: Sequence[int] | None = None) -> None:
    """Delete these entries, or all."""
    mine = search_history.c.experiment_id == experiment_id
    if numbers is None:
        conn.execute(delete(search_history).where(mine))
        return
    for some in batches(numbers):
        conn.execute(delete(search_history).where(mine, search_history.c.n.in_(some)))
