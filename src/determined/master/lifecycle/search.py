"""Searches: an event goes to the experiment's searcher and its operations are executed, in the causing transaction.

`settle` is the one follow-up every change of trials needs: it tells the searcher of trials that have ended, until
nothing new follows, and ends a stopping experiment that has no live trial left.
"""

import logging
from collections import deque
from datetime import datetime
from typing import Any

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
    while (trial := trials.next_unreported_exit(conn, experiment_id, sorted(TERMINAL))) is not None:
        trials.update_row(conn, trial["id"], {"exit_reported": True})
        reason = _exit_reason(trial)
        if reason is not None:
            _event(conn, now, experiment_id, searchers.exited_early(trial["request_id"], reason))
        _event(conn, now, experiment_id, searchers.exited(trial["request_id"]))
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


def _event(conn: Connection, now: datetime, experiment_id: int, event: searchers.Event) -> None:
    """Feed one event; a method that fails ends the experiment, not the caller's transaction."""
    savepoint = conn.begin_nested()
    try:
        _run(conn, now, experiment_id, event)
    except DBAPIError:
        savepoint.rollback()
        raise
    except Exception as e:
        # The search cannot go on: its experiment ends in ERROR, its trials are killed; the causing report stays.
        savepoint.rollback()
        logger.exception("experiment %s: the search method failed on %s", experiment_id, event["type"])
        _fail(conn, now, experiment_id, f"the search method failed: {e}")
        return
    savepoint.commit()


def _run(conn: Connection, now: datetime, experiment_id: int, event: searchers.Event) -> None:
    """Feed an event and execute what follows, breadth first, until no operation is left."""
    events = deque([event])
    while events:
        answer = searchers.feed(conn, experiment_id, events.popleft())
        if answer is None:
            return
        operations, progress = answer
        experiments.update_row(conn, experiment_id, {"progress": progress})
        events.extend(_execute(conn, now, experiment_id, operations))


def _execute(conn: Connection, now: datetime, experiment_id: int, operations: list[Operation]) -> list[searchers.Event]:
    """Execute operations; returns the events they cause. A stopping experiment only listens to Shutdown."""
    follow_ups: list[searchers.Event] = []
    stopping = experiments.get(conn, experiment_id)["state"] in STOPPING
    if stopping and not all(isinstance(op, Shutdown) for op in operations):
        return []
    for operation in operations:
        match operation:
            case Create():
                follow_ups += _create(conn, now, experiment_id, operation)
            case Shutdown():
                _shut_down(conn, now, experiment_id, operation)
            case _:
                _steer(conn, now, experiment_id, operation)
    return follow_ups


def _create(conn: Connection, now: datetime, experiment_id: int, order: Create) -> list[searchers.Event]:
    """A new trial; or, in a continued experiment, the trial that already has this request id."""
    experiment = experiments.get(conn, experiment_id)
    known = searchers.created(order.request_id)
    trial = trials.by_request(conn, experiment_id, order.request_id)
    if trial is None:
        trial_state.create(conn, now, experiment, order)
        return [known]
    if trial["state"] == State.COMPLETED and experiment["config"]["searcher"]["name"] != "single":
        return [known, searchers.exited(order.request_id)]
    trial_state.resume(conn, now, experiment, trial)
    return [known]


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
