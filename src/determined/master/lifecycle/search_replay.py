"""Replay of the results of a continued search, so that no completed operation is trained twice.

A continued search is a fresh searcher of the same seed: it draws the same trials under the same ids. All events of the
earlier searcher are kept in order (`search_history`). Before a search begins again, `rewind` strikes out the exits
of trials that are resumed and marks the rest as pending; `due` hands pending events over as soon as the fresh
searcher has asked for them: has created the trial and, in the classic generation, has given it that very operation.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain, takewhile

from sqlalchemy import Connection

from determined.master.db.queries import search as rows
from determined.master.db.queries import trial as trials
from determined.master.db.rows.experiments import Experiment, Trial
from determined.master.lifecycle.searchers import Initial, exit_events
from determined.master.lifecycle.states import State
from determined.search.events import Event
from determined.search.registry import searcher_of

_EXTENSION = ""  # in the place of a trial's id: the event is of the whole search


class Standing(StrEnum):
    """Fate of an existing trial when the continued search creates it again."""

    OVER = "over"  # it stays as it is; its end is replayed
    WAITING = "waiting"  # classic: complete as far as it went, and may be asked for more
    RESUMED = "resumed"  # it goes on from its latest checkpoint


def rewind(conn: Connection, experiment: Experiment) -> list[Event]:
    """Take what is still true of an earlier search out of the rows, to replay it; the rest is forgotten."""
    past = [row.event for row in rows.history(conn, experiment.id)]
    known = {trial.request_id: trial for trial in trials.of_experiment(conn, experiment.id)}
    rows.drop_history(conn, experiment.id)
    if not searcher_of(experiment.config).replays_history:
        return []  # its one trial is trained on, whatever it has shown
    over = _over(experiment, known, past)
    kept = [event for event in past if _is_true(experiment, event, over)]
    without_exit = over - {event["id"] for event in kept if event["type"] == "exited"}
    derived = [event for trial in known.values() if trial.request_id in without_exit for event in exit_events(trial)]
    return [*kept, *derived]


@dataclass(slots=True)
class Replay:
    """A search that begins again: its events come from memory, and no row is written before `save`.

    `past` has the events to replay, in order (None where that is done); those before `upto` may be replayed now.
    """

    search: Initial
    past: list[Event | None]
    upto: int = 0
    created: set[str] = field(default_factory=set)
    extensions: int = 0  # still to be replayed: until then the end of the search is not its end
    _places: dict[str, deque[int]] = field(default_factory=dict)  # by trial; they are taken from the left

    def __post_init__(self) -> None:
        for n, event in enumerate(self.past):
            if event is not None:
                self._places.setdefault(event.get("id", _EXTENSION), deque()).append(n)
                self.extensions += event["type"] == "extended"

    def of(self, request_ids: Sequence[str], upto: int | None = None) -> list[tuple[int, Event]]:
        """Return (place, event) of what is still to be replayed of these trials, in order; before `upto` only."""
        end = len(self.past) if upto is None else upto
        places = [takewhile(lambda n: n < end, self._places.get(request_id, ())) for request_id in set(request_ids)]
        return [(n, event) for n in sorted(chain(*places)) if (event := self.past[n]) is not None]

    def take(self, places: Sequence[int]) -> None:
        for n in places:
            event, self.past[n] = self.past[n], None
            if event is not None:
                self._places[event.get("id", _EXTENSION)].remove(n)

    def take_extension(self, place: int) -> Event:
        """Return the extension that is replayed now; it is pending no more."""
        event = self.past[place]
        assert event is not None
        self.take([place])
        self.extensions -= 1
        return event

    def save(self, conn: Connection, experiment_id: int) -> None:
        """Write the searcher and its history down, and what nobody has asked for yet as pending."""
        left = [event for event in self.past if event is not None]
        rows.append_history(conn, experiment_id, left, pending=True)
        self.search.save(conn, experiment_id)


def standing(conn: Connection, experiment: Experiment, trial: Trial, replay: Replay | None = None) -> Standing:
    if not searcher_of(experiment.config).replays_history or trial.state != State.COMPLETED:
        return Standing.RESUMED
    pending = _pending(conn, experiment.id, [trial.request_id], replay)
    return Standing.OVER if any(event["type"] == "exited" for _, event in pending) else Standing.WAITING


def knows(conn: Connection, experiment_id: int, request_id: str, length: int, replay: Replay | None = None) -> bool:
    """Tell whether a trial has already completed an operation of this length in an earlier search."""
    pending = _pending(conn, experiment_id, [request_id], replay)
    return any(event["type"] == "validation" and event["length"] == length for _, event in pending)


def known_trials(conn: Connection, experiment_id: int, request_ids: Sequence[str]) -> set[str]:
    """List the trials of which an earlier search has left something to replay."""
    return {event["id"] for _, event in _pending(conn, experiment_id, request_ids, None)}


def due(
    conn: Connection, experiment: Experiment, request_ids: Sequence[str], replay: Replay | None = None
) -> tuple[list[Event], list[int]]:
    """Take out the events of these trials that may be replayed now, and ids of trials whose operation they complete."""
    pending = _pending(conn, experiment.id, request_ids, replay, replay.upto if replay else None)
    classic = experiment.generation == "classic"
    known = trials.by_requests(conn, experiment.id, [event["id"] for _, event in pending] if classic else [])
    events: list[Event] = []
    numbers: list[int] = []
    completed: list[int] = []
    for n, event in pending:
        if classic and event["type"] == "validation":
            trial = known[event["id"]]
            if event["length"] != trial.op_length or trial.op_completed == trial.op_length:
                continue
            trials.update_row(conn, trial.id, {"op_completed": trial.op_length})
            completed.append(trial.id)
        events.append(event)
        numbers.append(n)
    if replay is not None:
        replay.take(numbers)
    else:
        rows.drop_history(conn, experiment.id, numbers)
    return events, completed


def _pending(
    conn: Connection, experiment_id: int, request_ids: Sequence[str], replay: Replay | None, upto: int | None = None
) -> list[tuple[int, Event]]:
    if replay is not None:
        return replay.of(request_ids, upto)
    return [(row.n, row.event) for row in rows.pending_history(conn, experiment_id, request_ids)]


def _over(experiment: Experiment, known: dict[str, Trial], past: list[Event]) -> set[str]:
    """Return completed trials of which nothing more can be asked.

    A late trial trains as long as it likes. A classic one may be promoted further, unless it left before its time, or
    completed before histories were kept.
    """
    done = {request_id for request_id, trial in known.items() if trial.state == State.COMPLETED}
    if experiment.generation != "classic":
        return done
    measured = {event["id"] for event in past if event["type"] == "validation"}
    return {request_id for request_id in done if known[request_id].early_exit or request_id not in measured}


def _is_true(experiment: Experiment, event: Event, over: set[str]) -> bool:
    """Check whether an event still holds: the exit of a trial that is resumed does not.

    Classic: a trial that left before its time is not given its operations again, so none of them can be complete.
    """
    if event["type"] == "extended":
        return True
    if event["type"] == "validation":
        return experiment.generation != "classic" or event["id"] not in over
    return event["id"] in over
