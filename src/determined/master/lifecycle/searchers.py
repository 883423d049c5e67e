"""Searchers on disk: each event is logged in the transaction that caused it, snapshots cut the replay short.

The cache of live searchers is keyed by a random tag stored with the last event. A transaction that is rolled back
leaves a tag that no row carries, so what it did to a searcher can never be taken for the truth.
"""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from sqlalchemy import Connection

from determined.master.db.queries import search as rows
from determined.master.db.queries.trial import ExitedTrial
from determined.master.db.rows.experiments import Trial
from determined.master.lifecycle.states import State
from determined.search import events as search_events
from determined.search.events import Event
from determined.search.method import ExitReason, Operation
from determined.search.searcher import Searcher
from determined.wire.codec import float_to_wire, plain

SNAPSHOT_EVERY = 50  # events, in a small search; see `_snapshot_is_due`
_CACHED = 256  # searchers
_CACHED_TRIALS = 200_000  # of all of them together: what a searcher holds grows with its trials
# Events that are replayed to a continued search (search_replay.py), where its searcher replays history.
_HISTORIC = frozenset({"validation", "exited_early", "exited", "extended"})


def start() -> Event:
    return {"type": "start"}


def created(request_id: str) -> Event:
    return {"type": "created", "id": request_id}


def validation(request_id: str, metric: Any, length: float) -> Event:
    """`metric`: a number, a map of several, or for a custom search any JSON; NaN is spelled as the wire does."""
    return {
        "type": "validation",
        "id": request_id,
        "metric": plain(metric),
        "length": float_to_wire(length),
    }


def progress(request_id: str, value: float) -> Event:
    return {"type": "progress", "id": request_id, "value": value}


def exited_early(request_id: str, reason: str) -> Event:
    return {"type": "exited_early", "id": request_id, "reason": reason}


def exited(request_id: str) -> Event:
    return {"type": "exited", "id": request_id}


def proposed(request_id: str, hparams: dict[str, Any]) -> Event:
    """Take the point that the sampler has proposed for a trial that was held back."""
    return {"type": "proposed", "id": request_id, "hparams": plain(hparams)}


def extended(trials: int) -> Event:
    return {"type": "extended", "trials": trials}


def posted(triggered_by: int | None, operations: list[dict[str, Any]]) -> Event:
    """Custom search: its client's answer, as the wire writes it."""
    return {"type": "posted", "triggered_by": triggered_by, "operations": operations}


def exit_events(trial: Trial | ExitedTrial) -> list[Event]:
    """List the events of a trial's end: why it left early, where it did, and that it is over."""
    reasons = {State.ERROR: ExitReason.ERRORED, State.CANCELED: ExitReason.USER_CANCELED}
    reason = trial.early_exit or reasons.get(State(trial.state))
    early = [] if reason is None else [exited_early(trial.request_id, reason)]
    return [*early, exited(trial.request_id)]


@dataclass(frozen=True, slots=True)
class Answer:
    """Operations that follow from each event, in order, how far the search is, and who waits for a point since then."""

    operations: list[list[Operation]]
    progress: float
    held: list[str]


@dataclass(slots=True)
class Initial:
    """A searcher that begins, in memory until `save`: events before that are not logged, however many."""

    searcher: Searcher
    _history: list[Event] = field(default_factory=list)
    _started: Answer | None = None
    pieces: list[msgspec.Raw] = field(default_factory=list)  # what it asks for, where that is queued

    @classmethod
    def of(cls, searcher: Searcher) -> "Initial":
        """Return one that has begun; its answer to the start is given when it is fed that."""
        return cls(searcher, _started=_answer(searcher, [start()]))

    @property
    def operations(self) -> list[Operation]:
        """Operations that the start has caused."""
        return self._started.operations[0] if self._started is not None else []

    def queue(self, pieces: list[msgspec.Raw]) -> None:
        """Take what the start has caused as pieces; they are queued and executed later, so nobody asks for it again."""
        self.pieces, self._started = pieces, None

    def feed(self, events: Sequence[Event]) -> Answer:
        """Give events to the searcher; see `feed` below."""
        if self._started is not None:
            answer, self._started = self._started, None
            return answer
        self._history += (event for event in events if _is_historic(self.searcher, event))
        return _answer(self.searcher, events)

    def save(self, conn: Connection, experiment_id: int) -> None:
        """Store the searcher as the snapshot; of the rows that the experiment had, keep only its history."""
        tag = secrets.token_hex(8)
        rows.forget(conn, experiment_id)
        rows.append(conn, experiment_id, 1, [{**start(), "tag": tag, **_waits(self.searcher)}])
        rows.put_snapshot(conn, experiment_id, 1, self.searcher.snapshot())
        rows.append_history(conn, experiment_id, self._history)
        _cache.put(tag, self.searcher)


def feed(conn: Connection, experiment_id: int, events: Sequence[Event]) -> Answer | None:
    """Log events and give them to the searcher, one after the other. None: there is no search."""
    loaded = _load(conn, experiment_id)
    if loaded is None:
        return None
    searcher, seq, snapshot_seq = loaded
    answer = _answer(searcher, events)
    tag = secrets.token_hex(8)
    newest = {**events[-1], "tag": tag, **_waits(searcher)}
    end = seq + len(events)
    if _snapshot_is_due(searcher, end - snapshot_seq):
        # the snapshot holds all but the tag
        rows.append(conn, experiment_id, end, [newest])
        rows.put_snapshot(conn, experiment_id, end, searcher.snapshot())
    else:
        rows.append(conn, experiment_id, seq + 1, [*({**event, "tag": tag} for event in events[:-1]), newest])
    rows.append_history(conn, experiment_id, [event for event in events if _is_historic(searcher, event)])
    _cache.put(tag, searcher)
    return answer


def peek(conn: Connection, experiment_id: int) -> Searcher | None:
    """Return a searcher of the caller's own to look at, as the rows say: the cached one is the writer thread's."""
    snapshot_seq = rows.snapshot_seq(conn, experiment_id)
    return None if snapshot_seq is None else _replay(conn, experiment_id, snapshot_seq)[0]


@dataclass(slots=True)
class Mirror:
    """A private copy of a searcher that follows the log, for those who look at a search again and again."""

    searcher: Searcher
    seq: int
    tag: str

    @classmethod
    def follow(cls, conn: Connection, experiment_id: int, old: "Mirror | None") -> "Mirror | None":
        """`old`, brought up to date, or a fresh one where the log no longer leads from it. None: there is no search."""
        if old is not None and (rows.event_at(conn, experiment_id, old.seq) or {}).get("tag") == old.tag:
            seq = _catch_up(conn, experiment_id, old.searcher, old.seq)
            return cls(old.searcher, seq, version(conn, experiment_id) or "")
        snapshot_seq = rows.snapshot_seq(conn, experiment_id)
        if snapshot_seq is None:
            return None
        searcher, seq = _replay(conn, experiment_id, snapshot_seq)
        return cls(searcher, seq, version(conn, experiment_id) or "")


def version(conn: Connection, experiment_id: int) -> str | None:
    """Return a version that changes with every event."""
    last = rows.last_event(conn, experiment_id)
    return None if last is None else str(last.event["tag"])


def release(conn: Connection, experiment_id: int) -> None:
    """Release a search that is over: what is in memory goes, what is stored stays."""
    tag = version(conn, experiment_id)
    if tag is not None:
        _cache.take(tag)


def _load(conn: Connection, experiment_id: int) -> tuple[Searcher, int, int] | None:
    snapshot_seq = rows.snapshot_seq(conn, experiment_id)
    if snapshot_seq is None:
        return None
    last = rows.last_event(conn, experiment_id)
    if last is not None:
        cached = _cache.take(last.event["tag"])
        if cached is not None:
            return cached, last.seq, snapshot_seq
    searcher, seq = _replay(conn, experiment_id, snapshot_seq)
    return searcher, seq, snapshot_seq


def _replay(conn: Connection, experiment_id: int, snapshot_seq: int) -> tuple[Searcher, int]:
    searcher = Searcher.restore(rows.snapshot(conn, experiment_id))
    return searcher, _catch_up(conn, experiment_id, searcher, snapshot_seq)


def _catch_up(conn: Connection, experiment_id: int, searcher: Searcher, seq: int) -> int:
    for row in rows.events_after(conn, experiment_id, seq):
        search_events.feed(searcher, row.event)
        seq = row.seq
    return seq


def _answer(searcher: Searcher, events: Sequence[Event]) -> Answer:
    searcher.newly_held()  # a replay has held some of them back again; they are known
    operations = [search_events.feed(searcher, event) for event in events]
    return Answer(operations, searcher.progress(), searcher.newly_held())


def _waits(searcher: Searcher) -> dict[str, str]:
    """Return whether anybody waits, for the proposer: it looks at the last event alone."""
    oldest = searcher.oldest_held()
    return {} if oldest is None else {"held": oldest}


def _snapshot_is_due(searcher: Searcher, events: int) -> bool:
    """Return whether to take a snapshot. Each holds every trial, so all together must cost no more than the trials."""
    return events >= max(SNAPSHOT_EVERY, searcher.trials_requested // 4)


def _is_historic(searcher: Searcher, event: Event) -> bool:
    """Tell whether to keep an event. Reports that a late search throws away, because it compares nothing, are not."""
    if event["type"] not in _HISTORIC or not searcher.declared.replays_history:
        return False
    return event["type"] != "validation" or searcher.classic or searcher.declared.compares


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
            while len(self._held) > 1 and self._is_full():
                self._held.popitem(last=False)

    def _is_full(self) -> bool:
        trials = sum(searcher.trials_requested for searcher in self._held.values())
        return len(self._held) > _CACHED or trials > _CACHED_TRIALS


_cache = _Cache()
