"""Points that a sampler must think up: which searches wait for one, and what becomes of an answer.

Thinking is slow and happens outside of any transaction, on a private copy of the searcher (`background/proposer.py`);
what comes of it is an event like any other. A master that dies while it thinks simply thinks again.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import search as rows
from determined.master.lifecycle import experiment as lifecycle
from determined.master.lifecycle import operations, search, searchers
from determined.master.lifecycle.searchers import Mirror
from determined.master.lifecycle.states import State


@dataclass(frozen=True, slots=True)
class Question:
    """A trial that waits for its point, and the searcher to ask: a copy of the asker's own."""

    request_id: str
    mirror: Mirror

    def think(self) -> JsonObject:
        """Think of a point. May take long; changes nothing."""
        return self.mirror.searcher.propose(self.request_id)


def waiting(conn: Connection) -> list[int]:
    """Return active experiments in which a trial waits for its point. Reads one row each, whatever their size."""
    waiting_searches = []
    for experiment_id in rows.active_with_sampler(conn):
        last = rows.last_event(conn, experiment_id)
        if last is not None and last.event.get("held"):
            waiting_searches.append(experiment_id)
    return waiting_searches


def question(conn: Connection, experiment_id: int, old: Mirror | None) -> Question | None:
    """Return the next trial to think about; `old` is the copy that the last question of this experiment came with."""
    if experiments.get(conn, experiment_id).state != State.ACTIVE:
        return None
    mirror = Mirror.follow(conn, experiment_id, old)
    held = mirror.searcher.proposals() if mirror is not None else []
    return Question(held[0], mirror) if mirror is not None and held else None


def answer(conn: Connection, now: datetime, experiment_id: int, request_id: str, hparams: JsonObject) -> None:
    """Give the trial its point. Nothing to do where the experiment has ended meanwhile; a second answer is ignored."""
    if experiments.get(conn, experiment_id).state not in (State.ACTIVE, State.PAUSED):
        return
    operations.tell(conn, now, experiment_id, searchers.proposed(request_id, hparams))
    search.settle(conn, now, experiment_id)


def give_up(conn: Connection, now: datetime, experiment_id: int, why: str) -> None:
    """End the search whose sampler has failed."""
    lifecycle.fail(conn, now, experiment_id, f"the sampler failed: {why}")
