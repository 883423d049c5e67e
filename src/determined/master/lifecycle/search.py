"""Searches: an event goes to the experiment's searcher and its operations are executed, in the causing transaction.

`settle` is the one follow-up every change of trials needs: it tells the searcher of trials that have ended, until
nothing new follows, and ends a stopping experiment that has no live trial left.
"""

import math
from datetime import datetime

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import ExperimentConfig
from determined.errors import FailedPrecondition, InvalidArgument
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import search_queue
from determined.master.db.queries import trial as trials
from determined.master.db.rows.experiments import Experiment, Trial
from determined.master.lifecycle import (
    allocation_state,
    experiment_state,
    operations,
    search_replay,
    searchers,
    trial_state,
)
from determined.master.lifecycle.search_replay import Replay
from determined.master.lifecycle.searchers import Initial
from determined.master.lifecycle.states import LIVE, TERMINAL, State
from determined.search.events import Event
from determined.search.method import ExitReason
from determined.search.objectives import Objectives
from determined.search.registry import searcher_of
from determined.search.searcher import Searcher
from determined.wire.codec import float_from_wire

EARLY_EXIT_GRACE_S = 10
_EXITS_AT_ONCE = 100  # trials whose end is reported to the searcher in one transaction
_EARLY_EXITS = {ExitReason.INVALID_HP, ExitReason.INIT_INVALID_HP}
_NOT_FINITE = ("NaN", "Infinity", "-Infinity")  # as the wire spells them


def start(config: JsonObject, generation: str, *, may_queue: bool = True) -> Initial:
    """Let the search of a config begin, without a database: for many trials that takes seconds.

    `may_queue`: many first trials are created in pieces; not so where a search begins again and replays its history.

    Raises:
        InvalidConfig, InvalidArgument: the searcher is unusable, or would begin too many trials.
    """
    declared = ExperimentConfig.load(config)
    searcher = Searcher.create(
        config["searcher"],
        declared.hyperparameters,
        seed=declared.reproducibility.experiment_seed,
        classic=generation == "classic",
    )
    initial = Initial.of(searcher)
    if may_queue and len(initial.operations) > operations.AT_ONCE:
        initial.queue(operations.in_pieces(initial.operations))
    return initial


def begin(conn: Connection, now: datetime, experiment_id: int, started: Initial | None = None) -> None:
    """Start the search of an experiment (again, when it is continued). Errors of the method are the caller's.

    `started`: what `start` gave for a new experiment.
    """
    experiment = experiments.get(conn, experiment_id)
    config = experiment.config
    past = search_replay.rewind(conn, experiment)
    planned = {**config, "searcher": _as_planned(config["searcher"], past)}
    initial = started or start(planned, experiment.generation, may_queue=not past)
    searcher = initial.searcher
    if initial.pieces:
        _begin_in_pieces(conn, now, experiment_id, initial)
        return
    replay = Replay(initial, [*past])
    operations.run(conn, now, experiment_id, searchers.start(), replay=replay)
    _report_exits(conn, now, experiment_id, replay)
    _replay_events(conn, now, experiment, replay)
    replay.save(conn, experiment_id)
    if searcher.progress() < 1:
        experiments.update_row(conn, experiment_id, {"progress": searcher.progress()})
    settle(conn, now, experiment_id)


def settle(conn: Connection, now: datetime, experiment_id: int) -> None:
    """Bring searcher and experiment up to date with the trials' states; after many ends search_batches.py continues."""
    if _report_exits(conn, now, experiment_id, None, _EXITS_AT_ONCE):
        search_queue.mark(conn, experiment_id)
        return
    experiment_state.finish_if_idle(conn, now, experiment_id)


def validation_reported(conn: Connection, now: datetime, trial_id: int, metrics: JsonObject, steps: int | None) -> None:
    """Late generation: a validation report is an event for the searcher. Classic: the completed operation is.

    What a trial says after the searcher has stopped it changes nothing any more. A metric may be no number, which is
    the worst; a length that is not finite counts as missing, as no sum of lengths would recover from it.
    """
    trial, experiment = _both(conn, trial_id)
    if experiment.generation == "classic" or experiment.unmanaged or experiment.state not in LIVE:
        return
    if trial.early_stopped or trial.state in TERMINAL:
        return
    searcher = experiment.config.get("searcher") or {}
    values = {name: _number(metrics.get(name)) for name in Objectives.of(searcher).names}
    timed = searcher.get("time_metric")
    length = _finite(_number(metrics.get(timed))) if timed else float(steps or 0)
    if length is None or None in values.values():
        missing = [name for name, value in [*values.items(), (timed or "", length)] if value is None]
        _report_lacks(conn, now, experiment, trial, missing, metrics)
        return
    metric = values if len(values) > 1 else next(iter(values.values()))
    operations.tell(conn, now, experiment.id, searchers.validation(trial.request_id, metric, length))
    settle(conn, now, experiment.id)


def progress_reported(conn: Connection, now: datetime, trial_id: int, value: float, raw: bool) -> None:
    """`raw`: 0..1 of the trial; otherwise units of the classic operation."""
    trial, experiment = _both(conn, trial_id)
    fraction = _fraction(trial, value, raw)
    trials.update_row(conn, trial_id, {"progress": fraction})
    if experiment.unmanaged:
        experiments.update_row(conn, experiment.id, {"progress": fraction})
        return
    if experiment.state not in LIVE:
        return
    classic = experiment.generation == "classic"
    length = trial.op_length or 0
    units = fraction * length if raw else min(max(0.0, value), length)  # not a product: a client reads what it sent
    progress = units if classic else fraction
    operations.tell(conn, now, experiment.id, searchers.progress(trial.request_id, progress))


def early_exit_reported(conn: Connection, now: datetime, trial_id: int, reason: str) -> None:
    """Record that the user's code found its hyperparameters invalid; it has ten seconds to leave. May repeat."""
    short = ExitReason(_known_early_exit(reason))
    trial, experiment = _both(conn, trial_id)
    if trial.state in TERMINAL or trial.early_exit is not None:
        return
    trials.update_row(conn, trial_id, {"early_exit": short})
    operations.tell(conn, now, experiment.id, searchers.exited_early(trial.request_id, short))
    # After that, because a search may stop such a trial, and a stop grants more time than is due here.
    allocation = allocations.live_of_trial(conn, trial_id)
    if allocation is not None:
        allocation_state.limit_stay(conn, now, allocation, EARLY_EXIT_GRACE_S)
    elif trials.get(conn, trial_id).state not in TERMINAL:
        trial_state.finish(conn, now, trial, State.COMPLETED)
    settle(conn, now, experiment.id)


def current_operation(conn: Connection, trial_id: int) -> tuple[int, bool] | None:
    """Classic: (length, completed) of the trial's operation; None before the first one."""
    trial = trials.get(conn, trial_id)
    if trial.op_length is None:
        return None
    return trial.op_length, trial.op_completed == trial.op_length


def complete_operation(conn: Connection, now: datetime, trial_id: int, length: int, metric: object) -> None:
    """Classic: the trial has trained to `length` and validated. The same completion again changes nothing.

    Raises:
        FailedPrecondition: the trial's operation is another one.
        InvalidArgument: the metric is not what the search compares; only a custom one takes any.
    """
    trial, experiment = _both(conn, trial_id)
    if trial.op_length is None or trial.op_length != length:
        if trial.op_completed is not None and length <= trial.op_completed:
            return  # an answer lost on the way: the operation was completed and another one followed
        raise FailedPrecondition(
            f"trial {trial_id}: expected op of length {trial.op_length}, received {length}; ask for the"
            " current operation again"
        )
    if trial.op_completed == length:
        return
    if not searcher_of(experiment.config).driven_by_user:
        Objectives.of(experiment.config["searcher"]).signed(metric)
    trials.update_row(conn, trial_id, {"op_completed": length})
    if experiment.state in LIVE:
        operations.tell(conn, now, experiment.id, searchers.validation(trial.request_id, metric, length))
    operations.close_if_finished(conn, now, trial_id)
    settle(conn, now, experiment.id)


def operations_posted(
    conn: Connection, now: datetime, experiment_id: int, triggered_by: int | None, wanted: list[JsonObject]
) -> None:
    """Custom search: its client's answer to an event; ignored once the search is over, as a repeated one is.

    Raises:
        InvalidArgument: an operation makes no sense; the transaction must be rolled back, the search goes on.
        FailedPrecondition: the searcher is no custom one.
    """
    experiment = experiments.get(conn, experiment_id)
    if experiment.state not in LIVE:
        return
    operations.run(conn, now, experiment_id, searchers.posted(triggered_by, wanted))
    settle(conn, now, experiment_id)


def _as_planned(searcher: JsonObject, past: list[Event]) -> JsonObject:
    """Return the searcher before its extension: brackets are planned from that number of trials and must stay."""
    extended = sum(event["trials"] for event in past if event["type"] == "extended")
    return {**searcher, "max_trials": searcher["max_trials"] - extended} if extended else searcher


def _replay_events(conn: Connection, now: datetime, experiment: Experiment, replay: Replay) -> None:
    """Replay the known events to a search that begins again, in their order.

    A history is long and most events cause nothing: no statement is spent on those.
    """
    classic = experiment.generation == "classic"
    for n, event in enumerate(replay.past):
        replay.upto = n + 1
        if event is None:
            continue
        if event["type"] == "extended":
            events = [replay.take_extension(n)]
        elif event["id"] in replay.created:
            events = operations.take_due_events(conn, now, experiment, [event["id"]], replay)
        else:
            continue
        if operations.run(conn, now, experiment.id, *events, replay=replay) or classic:
            _report_exits(conn, now, experiment.id, replay)


def _begin_in_pieces(conn: Connection, now: datetime, experiment_id: int, initial: Initial) -> None:
    """Begin the first trials now, the others by and by."""
    initial.save(conn, experiment_id)
    search_queue.put(conn, experiment_id, initial.pieces)
    operations.advance(conn, now, experiment_id)
    settle(conn, now, experiment_id)


def _report_exits(
    conn: Connection, now: datetime, experiment_id: int, replay: Replay | None, limit: int | None = None
) -> bool:
    """Report ended trials to the searcher, `limit` at most or little more; return whether there are others."""
    reported = 0
    while exits := trials.unreported_exits(conn, experiment_id, sorted(TERMINAL), limit):
        if limit is not None and reported >= limit:
            return True
        trials.mark_reported(conn, [trial.id for trial in exits])
        events = [event for trial in exits for event in searchers.exit_events(trial)]
        operations.tell(conn, now, experiment_id, *events, replay=replay)
        reported += len(exits)
    return False


def _both(conn: Connection, trial_id: int) -> tuple[Trial, Experiment]:
    trial = trials.get(conn, trial_id)
    return trial, experiments.get(conn, trial.experiment_id)


def _number(value: object) -> float | None:
    if isinstance(value, str) and value in _NOT_FINITE:
        return float_from_wire(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _finite(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else number


def _fraction(trial: Trial, value: float, raw: bool) -> float:
    if not math.isfinite(value):
        raise InvalidArgument(f"progress={value} must be a finite number")
    if raw:
        if not 0 <= value <= 1:
            raise InvalidArgument(f"progress={value} must lie between 0 and 1")
        return value
    return min(1.0, max(0.0, value / trial.op_length)) if trial.op_length else 0.0


def _known_early_exit(reason: str) -> str:
    short = reason.removeprefix("EXITED_REASON_")
    if short not in _EARLY_EXITS:
        raise InvalidArgument(f"early exit reason {reason!r} is unknown; report INVALID_HP or INIT_INVALID_HP")
    return short


def _report_lacks(
    conn: Connection,
    now: datetime,
    experiment: Experiment,
    trial: Trial,
    missing: list[str],
    metrics: JsonObject,
) -> None:
    """A search that compares trials cannot go on without what it compares."""
    if not searcher_of(experiment.config).compares:
        return
    searcher = experiment.config.get("searcher") or {}
    timed = searcher.get("time_metric")
    fields = {searcher.get("metric"): "searcher.metric", timed: "searcher.time_metric"}
    finite = ", which must be finite" if timed in missing and timed in metrics else ""
    lacking = " and ".join(f"{fields.get(name, 'searcher.metrics')} {name!r}" for name in missing)
    why = (
        f"trial {trial.id} reported a validation without a number for {lacking}{finite}; it has: {sorted(metrics)}."
        " Report it with every validation, or name one of those in the config"
    )
    operations.fail(conn, now, experiment.id, why)
    settle(conn, now, experiment.id)
