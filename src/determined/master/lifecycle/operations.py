"""Feeding a searcher and executing what it says, in the causing transaction: trials are created, steered, stopped."""

import logging
from collections.abc import Callable, Container, Sequence
from datetime import datetime
from itertools import chain, groupby
from typing import cast

import msgspec
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from determined.master.db.prepared import Savepoint
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import search_queue
from determined.master.db.queries import trial as trials
from determined.master.db.queries.log import append_master_line
from determined.master.db.rows.experiments import Experiment, Trial
from determined.master.lifecycle import experiment_state, search_replay, searchers, trial_state
from determined.master.lifecycle.search_replay import Replay, Standing
from determined.master.lifecycle.states import STOPPING, TERMINAL, State, may_become
from determined.rundir.failure_cause import read_cause
from determined.search.events import Event
from determined.search.method import (
    Close,
    Create,
    Operation,
    Shutdown,
    Stop,
    ValidateAfter,
    decode_operation,
    encode_operation,
)
from determined.search.registry import searcher_of

logger = logging.getLogger(__name__)

AT_ONCE = 100  # trials created in one transaction: some 50 ms


def tell(conn: Connection, now: datetime, experiment_id: int, *events: Event, replay: Replay | None = None) -> None:
    """Feed events in order; a method that fails ends the experiment, not the caller's transaction."""
    what = ", ".join(sorted({event["type"] for event in events}))
    _or_fail(conn, now, experiment_id, what, lambda: run(conn, now, experiment_id, *events, replay=replay))


def advance(conn: Connection, now: datetime, experiment_id: int) -> None:
    """Execute the next batch of what the search has asked for (search_batches.py), and what follows from it."""
    piece = [decode_operation(operation) for operation in search_queue.take(conn, experiment_id)]
    if not piece:
        return

    def execute() -> None:
        run(conn, now, experiment_id, *_execute(conn, now, experiment_id, piece, None))

    _or_fail(conn, now, experiment_id, "queued operations", execute)


def _or_fail(conn: Connection, now: datetime, experiment_id: int, what: str, act: Callable[[], object]) -> None:
    try:
        with Savepoint(conn):
            act()
    except DBAPIError:
        raise
    except Exception as e:
        # The search cannot go on: its experiment ends in ERROR, its trials are killed; the causing report stays.
        logger.exception("experiment %s: the search method failed on %s", experiment_id, what)
        fail(conn, now, experiment_id, f"the search method failed: {e}")


def run(conn: Connection, now: datetime, experiment_id: int, *events: Event, replay: Replay | None = None) -> bool:
    """Feed events and execute what follows, breadth first, until no operation is left; whether there was any.

    Errors are the caller's. `replay`: a search that begins, and how much of its history may be replayed.
    """
    acted = False
    while events:
        answer = searchers.feed(conn, experiment_id, events) if replay is None else replay.search.feed(events)
        if answer is None:
            break
        if (
            replay is None and answer.progress < 1
        ):  # a search counts failed trials as done; the whole comes with COMPLETED alone
            experiments.update_row(conn, experiment_id, {"progress": answer.progress})
        follow_ups = _known_points(conn, experiment_id, answer.held)
        given = [operations for operations in answer.operations if operations]
        acted = acted or bool(given)
        if replay is None and given:
            given = _fitting(conn, experiment_id, given)
        if all(_is_steering(op) for op in chain(*given)):
            given = [[*chain(*given)]] if given else []
        for operations in given:
            follow_ups += _execute(conn, now, experiment_id, operations, replay)
        events = tuple(follow_ups)
    return acted


def in_pieces(operations: Sequence[Operation]) -> list[msgspec.Raw]:
    """Return operations as they are queued: as many in each piece as one transaction executes.

    Each is JSON already: a search may ask for a hundred thousand, and whoever queues them holds the writer.
    """
    pieces = (operations[start : start + AT_ONCE] for start in range(0, len(operations), AT_ONCE))
    return [msgspec.Raw(msgspec.json.encode([encode_operation(operation) for operation in piece])) for piece in pieces]


def _fitting(conn: Connection, experiment_id: int, given: list[list[Operation]]) -> list[list[Operation]]:
    """Return operations that are executed at once; the rest is queued, behind what is there.

    While anything is queued, only trials that exist are steered: the others are about to be created.
    """
    if search_queue.has_operations(conn, experiment_id):
        steering = [op.request_id for op in chain(*given) if not isinstance(op, Create | Shutdown)]
        there = trials.by_requests(conn, experiment_id, steering)
        now = [[op for op in ops if _is_for(op, there)] for ops in given]
        later = [op for op in chain(*given) if not _is_for(op, there)]
    elif _weight(given) > AT_ONCE:
        now, later = [], [*chain(*given)]
    else:
        return given
    search_queue.put(conn, experiment_id, in_pieces(later))
    return [ops for ops in now if ops]


def _is_for(operation: Operation, there: Container[str]) -> bool:
    return not isinstance(operation, Create | Shutdown) and operation.request_id in there


def _weight(given: list[list[Operation]]) -> float:
    """Weigh an operation: a new trial costs about as much as four others."""
    return sum(1 if isinstance(operation, Create) else 0.25 for operation in chain(*given))


def _past(replay: Replay | None) -> bool:
    return replay is not None and bool(replay.past)


def take_due_events(
    conn: Connection, now: datetime, experiment: Experiment, request_ids: list[str], replay: Replay | None
) -> list[Event]:
    """Take the events of an earlier search of these trials that may be replayed to the present one now."""
    events, completed = search_replay.due(conn, experiment, request_ids, replay)
    for trial_id in completed:
        close_if_finished(conn, now, trial_id)
    return events


def close_if_finished(conn: Connection, now: datetime, trial_id: int) -> None:
    """Classic: closed and complete (or never given anything to do) means there is nothing more to do."""
    trial = trials.get(conn, trial_id)
    if trial.op_closed and trial.op_completed == trial.op_length:
        trial_state.push(conn, now, trial_id, State.STOPPING_COMPLETED, "its last operation is complete")


def fail(conn: Connection, now: datetime, experiment_id: int, why: str) -> None:
    experiment = experiments.get(conn, experiment_id)
    if may_become(State(experiment.state), State.STOPPING_ERROR):
        experiment_state.move(conn, now, experiment, State.STOPPING_ERROR, why, error=why)


def _known_points(conn: Connection, experiment_id: int, held: list[str]) -> list[Event]:
    """Trials of a continued search have their points already; no model is asked again."""
    there = trials.by_requests(conn, experiment_id, held)
    return [searchers.proposed(request_id, there[request_id].hparams) for request_id in held if request_id in there]


def _execute(
    conn: Connection, now: datetime, experiment_id: int, operations: list[Operation], replay: Replay | None
) -> list[Event]:
    """Execute operations; returns the events they cause. A stopping experiment only listens to Shutdown."""
    experiment = experiments.get(conn, experiment_id)
    if experiment.state in STOPPING and not all(isinstance(op, Shutdown) for op in operations):
        return []
    events: list[Event] = []
    asked: list[str] = []  # trials of which an earlier search may have left events
    for kind, group in groupby(_in_batches(operations, replay), _kind):
        some = list(group)
        if kind is Create:
            orders = cast(list[Create], some)
            if replay is not None:
                replay.created.update(order.request_id for order in orders)
            events += (searchers.created(order.request_id) for order in orders)
            asked += _create(conn, now, experiment, orders, replay)
        elif kind is ValidateAfter and not _past(replay):
            asked += _steer(conn, now, experiment, cast(list[ValidateAfter | Close], some), replay)
        else:
            for operation in some:
                asked += _execute_one(conn, now, experiment, operation, replay)
    return events + take_due_events(conn, now, experiment, asked, replay)


def _execute_one(
    conn: Connection, now: datetime, experiment: Experiment, operation: Operation, replay: Replay | None
) -> list[str]:
    match operation:
        case Shutdown() if replay is None or not replay.extensions:
            _shut_down(conn, now, experiment.id, operation)
        case ValidateAfter():
            return _give(conn, now, experiment, operation, replay)
        case Close() | Stop():
            _end(conn, now, experiment.id, operation)
    return []


def _in_batches(operations: list[Operation], replay: Replay | None) -> list[Operation]:
    """Put new trials first, so that few statements make them all: no operation depends on a later trial."""
    if _past(replay) or any(isinstance(operation, Shutdown) for operation in operations):
        return operations
    return sorted(operations, key=lambda operation: not isinstance(operation, Create))


def _kind(operation: Operation) -> type[Operation]:
    return ValidateAfter if _is_steering(operation) else type(operation)


def _is_steering(operation: Operation) -> bool:
    """Return whether it is a length of a classic trial, or its end."""
    return isinstance(operation, ValidateAfter | Close)


def _create(
    conn: Connection, now: datetime, experiment: Experiment, orders: Sequence[Create], replay: Replay | None
) -> list[str]:
    """Create trials; or, in a continued experiment, return those that already have these request ids."""
    _adopt_only_trial(conn, experiment, orders)
    there = trials.by_requests(conn, experiment.id, [order.request_id for order in orders])
    trial_state.create(conn, now, experiment, [order for order in orders if order.request_id not in there])
    for trial in there.values():
        match search_replay.standing(conn, experiment, trial, replay):
            case Standing.RESUMED:
                trial_state.resume(conn, now, experiment, trial)
            case Standing.WAITING:
                trial_state.reopen(conn, experiment, trial)
    return list(there)


def _adopt_only_trial(conn: Connection, experiment: Experiment, orders: Sequence[Create]) -> None:
    """Give the only trial of an imported experiment the id that our searcher draws: upstream had drawn another."""
    if len(orders) != 1 or searcher_of(experiment.config).is_multi_trial:
        return
    known = trials.of_experiment(conn, experiment.id)
    if len(known) == 1 and known[0].request_id != orders[0].request_id:
        trials.update_row(conn, known[0].id, {"request_id": orders[0].request_id})


def _give(
    conn: Connection, now: datetime, experiment: Experiment, operation: ValidateAfter, replay: Replay | None
) -> list[str]:
    """Give a classic trial its next length."""
    trial = trials.by_request(conn, experiment.id, operation.request_id)
    if trial is None or trial.state in TERMINAL:
        return []
    known = search_replay.knows(conn, experiment.id, operation.request_id, operation.length, replay)
    if not known and trial_state.is_reopened(trial):
        trial_state.resume(conn, now, experiment, trial)
    trials.update_row(conn, trial.id, {"op_length": operation.length})
    return [operation.request_id] if known else []


def _end(conn: Connection, now: datetime, experiment_id: int, operation: Close | Stop) -> None:
    trial = trials.by_request(conn, experiment_id, operation.request_id)
    if trial is None or trial.state in TERMINAL:
        return
    if isinstance(operation, Close):
        trials.update_row(conn, trial.id, {"op_closed": True})
        _note_reason(conn, now, trial, operation)
        close_if_finished(conn, now, trial.id)
        return
    trials.update_row(conn, trial.id, {"early_stopped": True, "stop_reason": operation.reason})
    why = operation.reason or "the searcher stopped this trial"
    trial_state.push(conn, now, trial.id, State.STOPPING_COMPLETED, why)


def _note_reason(conn: Connection, now: datetime, trial: Trial, operation: Close) -> None:
    """Store why a classic trial gets no further operation. Nothing of it may run by then, so its log says it here."""
    if operation.reason is not None:
        trials.update_row(conn, trial.id, {"stop_reason": operation.reason})
        append_master_line(conn, now, trial.task_id, operation.reason)


def _every_trial_failed(conn: Connection, experiment_id: int) -> str:
    """Say that every trial failed, with the reason of the first: in most such experiments all trials fail alike."""
    reason = allocations.first_failure_reason(conn, experiment_id)
    return f"every trial failed: {read_cause(reason).describe()}" if reason else "every trial failed"


def _steer(
    conn: Connection,
    now: datetime,
    experiment: Experiment,
    given: list[ValidateAfter | Close],
    replay: Replay | None,
) -> list[str]:
    """Apply lengths and ends of many classic trials: by the same few statements for all but those with a history."""
    ids = [op.request_id for op in given]
    there = trials.by_requests(conn, experiment.id, ids)
    special = set() if replay is not None else search_replay.known_trials(conn, experiment.id, ids)
    special |= {request_id for request_id, trial in there.items() if trial_state.is_reopened(trial)}
    asked: list[str] = []
    lengths: dict[int, int] = {}
    closed: list[Trial] = []
    for op in given:
        trial = there.get(op.request_id)
        if trial is None or trial.state in TERMINAL:
            continue
        if op.request_id in special:
            asked += _execute_one(conn, now, experiment, op, replay)
        elif isinstance(op, ValidateAfter):
            lengths[trial.id] = op.length
        else:
            closed.append(trial)
            _note_reason(conn, now, trial, op)
    trials.update_each(conn, {trial_id: {"op_length": length} for trial_id, length in lengths.items()})
    trials.update_rows(conn, [trial.id for trial in closed], {"op_closed": True})
    for trial in closed:
        if trial.op_completed == lengths.get(trial.id, trial.op_length):
            close_if_finished(conn, now, trial.id)
    return asked


def _shut_down(conn: Connection, now: datetime, experiment_id: int, operation: Shutdown) -> None:
    experiment = experiments.get(conn, experiment_id)
    if operation.failure:
        wanted, error = State.STOPPING_ERROR, experiment.error or _every_trial_failed(conn, experiment_id)
    elif operation.cancel:
        wanted, error = State.STOPPING_CANCELED, None
    else:
        wanted, error = State.STOPPING_COMPLETED, None
    if may_become(State(experiment.state), wanted):
        experiment_state.move(conn, now, experiment, wanted, "the search is over", error=error)
