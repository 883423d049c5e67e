"""Telling a continued search what its trials have already shown, so that it need not learn it twice.

A continued search is a fresh searcher of the same seed: it draws the same trials under the same ids. All that the
earlier searcher heard is kept in order (`search_history`). Before a search begins again, `rewind` strikes out the exits
of trials that are taken up again and marks the rest as pending; `due` hands pending events over as soon as the fresh
searcher has asked for them: has created the trial and, in the classic generation, has given it that very operation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from sqlalchemy import Connection, RowMapping

from determined.master.db.queries import search as rows
from determined.master.db.queries import trial as trials
from determined.master.lifecycle.searchers import Event, exit_events
from determined.master.lifecycle.states import State


class Standing(StrEnum):
    """What becomes of an existing trial when the continued search creates it again."""

    OVER = "over"  # it stays as it is; its end is told
    WAITING = "waiting"  # classic: complete as far as it went, and may be asked for more
    RESUMED = "resumed"  # it goes on from its latest checkpoint


def rewind(conn: Connection, experiment: RowMapping) -> None:
    """Mark what is still true of an earlier search as pending; the rest is forgotten."""
    past = [row["event"] for row in rows.history(conn, experiment["id"])]
    known = {trial["request_id"]: trial for trial in trials.of_experiment(conn, experiment["id"])}
    rows.drop_history(conn, experiment["id"])
    if experiment["config"]["searcher"]["name"] == "single":
        return  # its one trial is trained on, whatever it has shown
    over = _over(experiment, known, past)
    kept = [event for event in past if _is_true(experiment, event, over)]
    untold = over - {event["id"] for event in kept if event["type"] == "exited"}
    derived = [event for trial in known.values() if trial["request_id"] in untold for event in exit_events(trial)]
    rows.append_history(conn, experiment["id"], [*kept, *derived], pending=True)


@dataclass(slots=True)
class Retelling:
    """How far a search that begins again has come: what may be told by now, and which trials it has created."""

    upto: int = 0
    created: set[str] = field(default_factory=set)


def pending(conn: Connection, experiment_id: int) -> Iterator[tuple[int, str]]:
    """Number and trial of all that waits to be told, in order."""
    for row in rows.history(conn, experiment_id):
        if row["pending"]:
            yield row["n"], row["request_id"]


def standing(conn: Connection, experiment: RowMapping, trial: RowMapping) -> Standing:
    if experiment["config"]["searcher"]["name"] == "single" or trial["state"] != State.COMPLETED:
        return Standing.RESUMED
    told = rows.pending_history(conn, experiment["id"], [trial["request_id"]])
    return Standing.OVER if any(row["event"]["type"] == "exited" for row in told) else Standing.WAITING


def knows(conn: Connection, experiment_id: int, request_id: str, length: int) -> bool:
    """Whether a trial has already completed an operation of this length in an earlier search."""
    told = rows.pending_history(conn, experiment_id, [request_id])
    return any(row["event"]["type"] == "validation" and row["event"]["length"] == length for row in told)


def due(
    conn: Connection, experiment: RowMapping, request_ids: Sequence[str], telling: Retelling | None = None
) -> tuple[list[Event], list[int]]:
    """Take out the events of these trials that may be told now; and the ids of trials whose operation they complete."""
    found = rows.pending_history(conn, experiment["id"], request_ids, telling.upto if telling else None)
    if not found:
        return [], []
    classic = experiment["generation"] == "classic"
    known = trials.by_requests(conn, experiment["id"], [row["request_id"] for row in found])
    events: list[Event] = []
    numbers: list[int] = []
    completed: list[int] = []
    for row in found:
        event, trial = row["event"], known[row["request_id"]]
        if classic and event["type"] == "validation":
            if event["length"] != trial["op_length"] or trial["op_completed"] == trial["op_length"]:
                continue
            trials.update_row(conn, trial["id"], {"op_completed": trial["op_length"]})
            completed.append(trial["id"])
        events.append(event)
        numbers.append(row["n"])
    rows.drop_history(conn, experiment["id"], numbers)
    return events, completed


def _over(experiment: RowMapping, known: dict[str, RowMapping], past: list[Event]) -> set[str]:
    """Completed trials of which nothing more can be asked.

    A late trial trains as long as it likes. A classic one may be promoted further, unless it left before its time, or
    completed before histories were kept.
    """
    done = {request_id for request_id, trial in known.items() if trial["state"] == State.COMPLETED}
    if experiment["generation"] != "classic":
        return done
    measured = {event["id"] for event in past if event["type"] == "validation"}
    return {request_id for request_id in done if known[request_id]["early_exit"] or request_id not in measured}


def _is_true(experiment: RowMapping, event: Event, over: set[str]) -> bool:
    """Exits of trials that are taken up again did not happen.

    Classic: a trial that left before its time is not given its operations again, so none of them can be complete.
    """
    if event["type"] == "validation":
        return experiment["generation"] != "classic" or event["id"] not in over
    return event["id"] in over
