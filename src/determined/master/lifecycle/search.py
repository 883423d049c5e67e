"""Searches: an event goes to the experiment's searcher and its operations are executed, in the causing transaction.

`settle` is the one follow-up every change of trials needs: it tells the searcher of trials that have ended, until
nothing new follows, and ends a stopping experiment that has no live trial left.
"""

import logging
from datetime import datetime
from itertools import groupby
from typing import Any, cast

from sqlalchemy import Connection, RowMapping
from sqlalchemy.exc import DBAPIError

from determined.errors import FailedPrecondition, InvalidArgument
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import trial as trials
from determined.master.db.queries.log import append_master_line
from determined.master.lifecycle import allocation_state, experiment_state, searchers, trial_state
from determined.master.lifecycle.states import LIVE, STOPPING, TERMINAL, State, may_become
from determined.search.method import Close, Create, ExitReason, Operation, Shutdown, Stop, ValidateAfter
from determined.search.searcher import Searcher

logger = logging.getLogger(__name__)

EARLY_EXIT_GRACE_S = 10
_EARLY_EXITS = {ExitReason.INVALID_HP, ExitReason.INIT_INVALID_HP}


def begin(conn: Connection, now: datetime, experiment_id: int) -> None:
    """Start the search of an experiment (again, when it is continued). Errors of the method are the caller's."""
    experiment = experiments.get(conn, experiment_id)
    config = experiment["config"]
    searcher = Searcher.create(
        config["searcher"],
        config.get("hyperparameters") or {},
        seed=config["reproducibility"]["experiment_seed"],
        classic=experiment["generation"] == "classic",
    )
    searchers.begin(conn, experiment_id, searcher)
    _run(conn, now, experiment_id, searchers.start())
    settle(conn, now, experiment_id)


def settle(conn: Connection, now: datetime, experiment_id: int) -> None:
    """Bring searcher and experiment up to date with the trials' states."""
    while exits := trials.unreported_exits(conn, experiment_id, sorted(TERMINAL)):
        trials.mark_reported(conn, [trial["id"] for trial in exits])
        _event(conn, now, experiment_id, *(event for trial in exits for event in _exit_events(trial)))
    experiment_state.finish_if_idle(conn, now, experiment_id)


def validation_reported(
    conn: Connection, now: datetime, trial_id: int, metrics: dict[str, Any], steps: int | None
) -> None:
    """Late generation: a validation report is an event for the searcher. Classic: the completed operation is."""
    trial, experiment = _both(conn, trial_id)
    if experiment["generation"] == "classic" or experiment["state"] not in LIVE:
        return
    searcher = experiment["config"].get("searcher") or {}
    metric = _number(metrics.get(searcher.get("metric") or ""))
    length = _number(metrics.get(searcher["time_metric"])) if searcher.get("time_metric") else float(steps or 0)
    if metric is None or length is None:
        _say_missing(conn, now, trial, searcher, metrics)
        return
    _event(conn, now, experiment["id"], searchers.validation(trial["request_id"], metric, length))
    settle(conn, now, experiment["id"])


def progress_reported(conn: Connection, now: datetime, trial_id: int, value: float, raw: bool) -> None:
    """`raw`: 0..1 of the trial; otherwise units of the classic operation."""
    trial, experiment = _both(conn, trial_id)
    fraction = _fraction(trial, value, raw)
    trials.update_row(conn, trial_id, {"progress": fraction})
    if experiment["unmanaged"]:
        experiments.update_row(conn, experiment["id"], {"progress": fraction})
        return
    if experiment["state"] not in LIVE:
        return
    classic = experiment["generation"] == "classic"
    told = fraction * (trial["op_length"] or 0) if classic and raw else value if classic else fraction
    _event(conn, now, experiment["id"], searchers.progress(trial["request_id"], told))


def early_exit_reported(conn: Connection, now: datetime, trial_id: int, reason: str) -> None:
    """The user's code found its hyperparameters invalid; it has ten seconds to leave. Repeats are harmless."""
    short = ExitReason(_known_early_exit(reason))
    trial, experiment = _both(conn, trial_id)
    if trial["state"] in TERMINAL or trial["early_exit"] is not None:
        return
    trials.update_row(conn, trial_id, {"early_exit": short})
    allocation = allocations.live_of_trial(conn, trial_id)
    if allocation is not None:
        allocation_state.limit_stay(conn, now, allocation, EARLY_EXIT_GRACE_S)
    _event(conn, now, experiment["id"], searchers.exited_early(trial["request_id"], short))
    if allocation is None:
        trial_state.finish(conn, now, trial, State.COMPLETED)
    settle(conn, now, experiment["id"])


def current_operation(conn: Connection, trial_id: int) -> tuple[int, bool] | None:
    """Classic: (length, completed) of the trial's operation; None before the first one."""
    trial = trials.get(conn, trial_id)
    if trial["op_length"] is None:
        return None
    return trial["op_length"], trial["op_completed"] == trial["op_length"]


def complete_operation(conn: Connection, now: datetime, trial_id: int, length: int, metric: float) -> None:
    """Classic: the trial has trained to `length` and validated. The same completion again changes nothing."""
    trial, experiment = _both(conn, trial_id)
    if trial["op_length"] is None or trial["op_length"] != length:
        if trial["op_completed"] is not None and length <= trial["op_completed"]:
            return  # an answer lost on the way: the operation was completed and another one followed
        raise FailedPrecondition(
            f"trial {trial_id}: expected op of length {trial['op_length']}, received {length}; ask for the"
            " current operation again"
        )
    if trial["op_completed"] == length:
        return
    trials.update_row(conn, trial_id, {"op_completed": length})
    if experiment["state"] in LIVE:
        _event(conn, now, experiment["id"], searchers.validation(trial["request_id"], metric, length))
    _close_if_finished(conn, now, trial_id)
    settle(conn, now, experiment["id"])


def _event(conn: Connection, now: datetime, experiment_id: int, *events: searchers.Event) -> None:
    """Feed events in order; a method that fails ends the experiment, not the caller's transaction."""
    savepoint = conn.begin_nested()
    try:
        _run(conn, now, experiment_id, *events)
    except DBAPIError:
        savepoint.rollback()
        raise
    except Exception as e:
        # The search cannot go on: its experiment ends in ERROR, its trials are killed; the causing report stays.
        savepoint.rollback()
        kinds = sorted({event["type"] for event in events})
        logger.exception("experiment %s: the search method failed on %s", experiment_id, ", ".join(kinds))
        _fail(conn, now, experiment_id, f"the search method failed: {e}")
        return
    savepoint.commit()


def _run(conn: Connection, now: datetime, experiment_id: int, *events: searchers.Event) -> None:
    """Feed events and execute what follows, breadth first, until no operation is left."""
    while events:
        answer = searchers.feed(conn, experiment_id, events)
        if answer is None:
            return
        if answer.progress < 1:  # a search counts failed trials as done; the whole comes with COMPLETED alone
            experiments.update_row(conn, experiment_id, {"progress": answer.progress})
        follow_ups: list[searchers.Event] = []
        for operations in answer.operations:
            if operations:
                follow_ups += _execute(conn, now, experiment_id, operations)
        events = tuple(follow_ups)


def _execute(conn: Connection, now: datetime, experiment_id: int, operations: list[Operation]) -> list[searchers.Event]:
    """Execute operations; returns the events they cause. A stopping experiment only listens to Shutdown."""
    follow_ups: list[searchers.Event] = []
    experiment = experiments.get(conn, experiment_id)
    if experiment["state"] in STOPPING and not all(isinstance(op, Shutdown) for op in operations):
        return []
    for kind, group in groupby(operations, type):
        if kind is Create:
            follow_ups += _create(conn, now, experiment, cast(list[Create], list(group)))
            continue
        for operation in group:
            match operation:
                case Shutdown():
                    _shut_down(conn, now, experiment_id, operation)
                case ValidateAfter() | Close() | Stop():
                    _steer(conn, now, experiment_id, operation)
    return follow_ups


def _create(conn: Connection, now: datetime, experiment: RowMapping, orders: list[Create]) -> list[searchers.Event]:
    """New trials; or, in a continued experiment, the trials that already have these request ids."""
    there = trials.by_requests(conn, experiment["id"], [order.request_id for order in orders])
    trial_state.create(conn, now, experiment, [order for order in orders if order.request_id not in there])
    again = experiment["config"]["searcher"]["name"] == "single"
    events: list[searchers.Event] = []
    for order in orders:
        events.append(searchers.created(order.request_id))
        trial = there.get(order.request_id)
        if trial is None:
            continue
        if trial["state"] == State.COMPLETED and not again:
            events.append(searchers.exited(order.request_id))
        else:
            trial_state.resume(conn, now, experiment, trial)
    return events


def _steer(conn: Connection, now: datetime, experiment_id: int, operation: ValidateAfter | Close | Stop) -> None:
    trial = trials.by_request(conn, experiment_id, operation.request_id)
    if trial is None or trial["state"] in TERMINAL:
        return
    match operation:
        case ValidateAfter():
            trials.update_row(conn, trial["id"], {"op_length": operation.length})
        case Close():
            trials.update_row(conn, trial["id"], {"op_closed": True})
            _close_if_finished(conn, now, trial["id"])
        case Stop():
            trials.update_row(conn, trial["id"], {"early_stopped": True})
            trial_state.push(conn, now, trial["id"], State.STOPPING_COMPLETED, "the searcher stopped this trial")


def _close_if_finished(conn: Connection, now: datetime, trial_id: int) -> None:
    """Classic: closed and complete means there is nothing more to do."""
    trial = trials.get(conn, trial_id)
    if trial["op_closed"] and trial["op_length"] is not None and trial["op_completed"] == trial["op_length"]:
        trial_state.push(conn, now, trial_id, State.STOPPING_COMPLETED, "its last operation is complete")


def _shut_down(conn: Connection, now: datetime, experiment_id: int, operation: Shutdown) -> None:
    experiment = experiments.get(conn, experiment_id)
    if operation.failure:
        wanted, error = State.STOPPING_ERROR, experiment["error"] or "every trial failed"
    elif operation.cancel:
        wanted, error = State.STOPPING_CANCELED, None
    else:
        wanted, error = State.STOPPING_COMPLETED, None
    if may_become(State(experiment["state"]), wanted):
        experiment_state.move(conn, now, experiment, wanted, "the search is over", error=error)


def _fail(conn: Connection, now: datetime, experiment_id: int, why: str) -> None:
    experiment = experiments.get(conn, experiment_id)
    if may_become(State(experiment["state"]), State.STOPPING_ERROR):
        experiment_state.move(conn, now, experiment, State.STOPPING_ERROR, why, error=why)


def _exit_events(trial: RowMapping) -> list[searchers.Event]:
    reason = _exit_reason(trial)
    early = [] if reason is None else [searchers.exited_early(trial["request_id"], reason)]
    return [*early, searchers.exited(trial["request_id"])]


def _exit_reason(trial: RowMapping) -> ExitReason | None:
    if trial["early_exit"] is not None:
        return ExitReason(trial["early_exit"])
    return {State.ERROR: ExitReason.ERRORED, State.CANCELED: ExitReason.USER_CANCELED}.get(State(trial["state"]))


def _both(conn: Connection, trial_id: int) -> tuple[RowMapping, RowMapping]:
    trial = trials.get(conn, trial_id)
    return trial, experiments.get(conn, trial["experiment_id"])


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _fraction(trial: RowMapping, value: float, raw: bool) -> float:
    if raw:
        if not 0 <= value <= 1:
            raise InvalidArgument(f"progress={value} must lie between 0 and 1")
        return value
    return min(1.0, max(0.0, value / trial["op_length"])) if trial["op_length"] else 0.0


def _known_early_exit(reason: str) -> str:
    short = reason.removeprefix("EXITED_REASON_")
    if short not in _EARLY_EXITS:
        raise InvalidArgument(f"early exit reason {reason!r} is unknown; report INVALID_HP or INIT_INVALID_HP")
    return short


def _say_missing(
    conn: Connection, now: datetime, trial: RowMapping, searcher: dict[str, Any], metrics: dict[str, Any]
) -> None:
    """Only methods that compare trials suffer; the others must not fill the log with it."""
    if searcher.get("name") in (None, "single", "random", "grid"):
        return
    wanted = [n for n in (searcher.get("metric"), searcher.get("time_metric")) if n]
    text = f"a validation report lacks a number for {wanted}: it has {sorted(metrics)}; the searcher did not see it"
    append_master_line(conn, now, trial["task_id"], text, level="WARNING")
