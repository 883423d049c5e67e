"""Feeding a searcher and executing what it says, in the causing transaction: trials are created, steered, stopped."""

import logging
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import cast

from sqlalchemy import Connection, RowMapping
from sqlalchemy.exc import DBAPIError

from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import trial as trials
from determined.master.lifecycle import experiment_state, history, searchers, trial_state
from determined.master.lifecycle.history import Retelling, Standing
from determined.master.lifecycle.states import STOPPING, TERMINAL, State, may_become
from determined.search.events import Event
from determined.search.method import Close, Create, Operation, Shutdown, Stop, ValidateAfter

logger = logging.getLogger(__name__)


def tell(conn: Connection, now: datetime, experiment_id: int, *events: Event, telling: Retelling | None = None) -> None:
    """Feed events in order; a method that fails ends the experiment, not the caller's transaction."""
    savepoint = conn.begin_nested()
    try:
        run(conn, now, experiment_id, *events, telling=telling)
    except DBAPIError:
        savepoint.rollback()
        raise
    except Exception as e:
        # The search cannot go on: its experiment ends in ERROR, its trials are killed; the causing report stays.
        savepoint.rollback()
        kinds = sorted({event["type"] for event in events})
        logger.exception("experiment %s: the search method failed on %s", experiment_id, ", ".join(kinds))
        fail(conn, now, experiment_id, f"the search method failed: {e}")
        return
    savepoint.commit()


def run(conn: Connection, now: datetime, experiment_id: int, *events: Event, telling: Retelling | None = None) -> bool:
    """Feed events and execute what follows, breadth first, until no operation is left; whether there was any.

    Errors are the caller's. `telling`: a search that begins, and how much of its history may be told.
    """
    acted = False
    while events:
        answer = searchers.feed(conn, experiment_id, events) if telling is None else telling.search.feed(events)
        if answer is None:
            break
        if (
            telling is None and answer.progress < 1
        ):  # a search counts failed trials as done; the whole comes with COMPLETED alone
            experiments.update_row(conn, experiment_id, {"progress": answer.progress})
        follow_ups = _known_points(conn, experiment_id, answer.held)
        for operations in answer.operations:
            if operations:
                acted = True
                follow_ups += _execute(conn, now, experiment_id, operations, telling)
        events = tuple(follow_ups)
    return acted


def retell(
    conn: Connection, now: datetime, experiment: RowMapping, request_ids: list[str], telling: Retelling | None
) -> list[Event]:
    """What an earlier search knew of these trials and the present one may hear now."""
    events, completed = history.due(conn, experiment, request_ids, telling)
    for trial_id in completed:
        close_if_finished(conn, now, trial_id)
    return events


def close_if_finished(conn: Connection, now: datetime, trial_id: int) -> None:
    """Classic: closed and complete (or never given anything to do) means there is nothing more to do."""
    trial = trials.get(conn, trial_id)
    if trial["op_closed"] and trial["op_completed"] == trial["op_length"]:
        trial_state.push(conn, now, trial_id, State.STOPPING_COMPLETED, "its last operation is complete")


def fail(conn: Connection, now: datetime, experiment_id: int, why: str) -> None:
    experiment = experiments.get(conn, experiment_id)
    if may_become(State(experiment["state"]), State.STOPPING_ERROR):
        experiment_state.move(conn, now, experiment, State.STOPPING_ERROR, why, error=why)


def _known_points(conn: Connection, experiment_id: int, held: list[str]) -> list[Event]:
    """Trials of a continued search have their points already; no model is asked again."""
    there = trials.by_requests(conn, experiment_id, held)
    return [searchers.proposed(request_id, there[request_id]["hparams"]) for request_id in held if request_id in there]


def _execute(
    conn: Connection, now: datetime, experiment_id: int, operations: list[Operation], telling: Retelling | None
) -> list[Event]:
    """Execute operations; returns the events they cause. A stopping experiment only listens to Shutdown."""
    experiment = experiments.get(conn, experiment_id)
    if experiment["state"] in STOPPING and not all(isinstance(op, Shutdown) for op in operations):
        return []
    events: list[Event] = []
    asked: list[str] = []  # trials of which an earlier search may have something to tell
    for kind, group in groupby(operations, type):
        if kind is Create:
            orders = cast(list[Create], list(group))
            if telling is not None:
                telling.created.update(order.request_id for order in orders)
            events += (searchers.created(order.request_id) for order in orders)
            asked += _create(conn, now, experiment, orders, telling)
            continue
        for operation in group:
            match operation:
                case Shutdown() if telling is None or not telling.extensions:
                    _shut_down(conn, now, experiment_id, operation)
                case ValidateAfter():
                    asked += _give(conn, now, experiment, operation, telling)
                case Close() | Stop():
                    _end(conn, now, experiment_id, operation)
    return events + retell(conn, now, experiment, asked, telling)


def _create(
    conn: Connection, now: datetime, experiment: RowMapping, orders: Sequence[Create], telling: Retelling | None
) -> list[str]:
    """New trials; or, in a continued experiment, the trials that already have these request ids (returned)."""
    there = trials.by_requests(conn, experiment["id"], [order.request_id for order in orders])
    trial_state.create(conn, now, experiment, [order for order in orders if order.request_id not in there])
    for trial in there.values():
        match history.standing(conn, experiment, trial, telling):
            case Standing.RESUMED:
                trial_state.resume(conn, now, experiment, trial)
            case Standing.WAITING:
                trial_state.reopen(conn, experiment, trial)
    return list(there)


def _give(
    conn: Connection, now: datetime, experiment: RowMapping, operation: ValidateAfter, telling: Retelling | None
) -> list[str]:
    """The next length of a classic trial."""
    trial = trials.by_request(conn, experiment["id"], operation.request_id)
    if trial is None or trial["state"] in TERMINAL:
        return []
    known = history.knows(conn, experiment["id"], operation.request_id, operation.length, telling)
    if not known and trial_state.is_reopened(trial):
        trial_state.resume(conn, now, experiment, trial)
    trials.update_row(conn, trial["id"], {"op_length": operation.length})
    return [operation.request_id] if known else []


def _end(conn: Connection, now: datetime, experiment_id: int, operation: Close | Stop) -> None:
    trial = trials.by_request(conn, experiment_id, operation.request_id)
    if trial is None or trial["state"] in TERMINAL:
        return
    if isinstance(operation, Close):
        trials.update_row(conn, trial["id"], {"op_closed": True})
        close_if_finished(conn, now, trial["id"])
        return
    trials.update_row(conn, trial["id"], {"early_stopped": True})
    trial_state.push(conn, now, trial["id"], State.STOPPING_COMPLETED, "the searcher stopped this trial")


def _every_trial_failed(conn: Connection, experiment_id: int) -> str:
    """With the reason of the first: in most experiments that fail all trials fail alike."""
    reason = allocations.first_failure_reason(conn, experiment_id)
    return f"every trial failed: {reason.splitlines()[-1].strip()}" if reason else "every trial failed"


def _shut_down(conn: Connection, now: datetime, experiment_id: int, operation: Shutdown) -> None:
    experiment = experiments.get(conn, experiment_id)
    if operation.failure:
        wanted, error = State.STOPPING_ERROR, experiment["error"] or _every_trial_failed(conn, experiment_id)
    elif operation.cancel:
        wanted, error = State.STOPPING_CANCELED, None
    else:
        wanted, error = State.STOPPING_COMPLETED, None
    if may_become(State(experiment["state"]), wanted):
        experiment_state.move(conn, now, experiment, wanted, "the search is over", error=error)
