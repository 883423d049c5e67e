"""Searchers on disk: each event is logged in the transaction that caused it, snapshots cut the replay short.

The cache of live searchers is keyed by a random tag stored with the last event. A transaction that is rolled back
leaves a tag that no row carries, so what it did to a searcher can never be taken for the truth.
"""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from determined.master.db.queries import search as rows
from determined.search.method import Operation
from determined.search.searcher import Searcher
from determined.wire.codec import float_from_wire, float_to_wire

SNAPSHOT_EVERY = 50
_CACHED = 256

Event = dict[str, Any]


def start() -> Event:
    return {"type": "start"}


def created(request_id: str) -> Event:
    return {"type": "created", "id": request_id}


def validation(request_id: str, metric: float, length: float) -> Event:
    return {
        "type": "validation",
        "id": request_id,
        "metric": float_to_wire(metric),
        "length": float_to_wire(length),
    }


def progress(request_id: str, value: float) -> Event:
    return {"type": "progress", "id": request_id, "value": value}


def exited_early(request_id: str, reason: str) -> Event:
    return {"type": "exited_early", "id": request_id, "reason": reason}


def exited(request_id: str) -> Event:
    return {"type": "exited", "id": request_id}


def begin(conn: Connection, experiment_id: int, searcher: Searcher) -> None:
    """Store a searcher that has not started; whatever was stored for the experiment is forgotten."""
    rows.forget(conn, experiment_id)
    rows.put_snapshot(conn, experiment_id, 0, searcher.snapshot())


@dataclass(frozen=True, slots=True)
class Answer:
    """What a searcher said to each event, in order, and how far the search is now."""

    operations: list[list[Operation]]
    progress: float


def feed(conn: Connection, experiment_id: int, events: Sequence[Event]) -> Answer | None:
    """Log events and give them to the searcher, one after the other. None: there is no search."""
    loaded = _load(conn, experiment_id)
    if loaded is None:
        return None
    searcher, seq, snapshot_seq = loaded
    operations = [_apply(searcher, event) for event in events]
    tag = secrets.token_hex(8)
    end = seq + len(events)
    if end - snapshot_seq >= SNAPSHOT_EVERY:
        # the snapshot holds all but the tag
        rows.append(conn, experiment_id, end, [{**events[-1], "tag": tag}])
        rows.put_snapshot(conn, experiment_id, end, searcher.snapshot())
    else:
        rows.append(conn, experiment_id, seq + 1, [{**event, "tag": tag} for event in events])
    _cache.put(tag, searcher)
    return Answer(operations, searcher.progress())


def _load(conn: Connection, experiment_id: int) -> tuple[Searcher, int, int] | None:
    snapshot_seq = rows.snapshot_seq(conn, experiment_id)
    if snapshot_seq is None:
        return None
    last = rows.last_event(conn, experiment_id)
    if last is not None:
        cached = _cache.take(last["event"]["tag"])
        if cached is not None:
            return cached, last["seq"], snapshot_seq
    searcher = Searcher.restore(rows.snapshot(conn, experiment_id))
    seq = snapshot_seq
    for row in rows.events_after(conn, experiment_id, snapshot_seq):
        _apply(searcher, row["event"])
        seq = row["seq"]
    return searcher, seq, snapshot_seq


def _apply(searcher: Searcher, event: Event) -> list[Operation]:
    match event["type"]:
        case "start":
            return searcher.start()
        case "created":
            return searcher.trial_created(event["id"])
        case "validation":
            metric, length = float_from_wire(event["metric"]), float_from_wire(event["length"])
            return searcher.validation(event["id"], metric, length)
        case "progress":
            return searcher.progress_reported(event["id"], event["value"])
        case "exited_early":
            return searcher.exited_early(event["id"], event["reason"])
        case "exited":
            return searcher.exited(event["id"])
    raise ValueError(f"search event {event['type']!r} is unknown; the database is of a newer master")


class _Cache:
    """Taking a searcher out makes it the taker's own: if the taker fails, the next one replays from the rows."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, Searcher] = OrderedDict()
        self._lock = threading.Lock()  # several masters in one test process have a writer thread each

    def take(self, tag: str) -> Searcher | None:
        with self._lock:
            return self._held.pop(tag, None)

    def put(self, tag: str, searcher: Searcher) -> None:
        with self._lock:
            self._held[tag] = searcher
            while len(self._held) > _CACHED:
                self._held.popitem(last=False)


_cache = _Cache()
