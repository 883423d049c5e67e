"""A trial's own rows: created, resumed, pushed into a state, decided about when its allocation has ended.

Trials that end here are found by `search.settle`, which tells the searcher; nothing in this file knows searches.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection

from determined._backoff import Backoff
from determined.config import ExperimentConfig, task_kinds
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import metric_trial, search_queue
from determined.master.db.queries import task as tasks
from determined.master.db.queries import trial as trials
from determined.master.db.queries.allocation import AllocationEnd
from determined.master.db.queries.log import append_master_line
from determined.master.db.queries.trial import WaitingTrial
from determined.master.db.rows.allocations import TaskValues
from determined.master.db.rows.experiments import Experiment, Trial, TrialValues
from determined.master.lifecycle import allocation_state
from determined.master.lifecycle.states import (
    STOPPING,
    TERMINAL,
    ExitKind,
    State,
    TrialAtExit,
    decide_exit,
    signal_for,
    terminal_of,
    trial_accepts,
)
from determined.search.method import Create, ExitReason
from determined.search.registry import searcher_of

_SYSTEM_FAILURE = Backoff(first=1.0, limit=30.0)
_NAMED_METRICS = 8
_TRAINED_S = 5.0
_LIVE_AT_ONCE = 20  # trials that are told to leave in one transaction: some ten statements each
_IDLE_AT_ONCE = 500
_REASONS = {
    State.PAUSED: "the experiment was paused",
    State.STOPPING_CANCELED: "the experiment was canceled",
    State.STOPPING_KILLED: "the experiment was killed",
    State.STOPPING_COMPLETED: "the search is over",
}
_NOTICED_FAILURES = 6  # consecutive system failures looked at; past these the delay no longer grows


def create(
    conn: Connection, now: datetime, experiment: Experiment, orders: Sequence[Create], *, task_name: str | None = None
) -> list[int]:
    """Create trials in their experiment's state, with their tasks; return the ids in the order of `orders`.

    `task_name`: by what the task of a single trial is known in place of the request id.
    """
    rows: list[TrialValues] = [
        {
            "experiment_id": experiment.id,
            "request_id": order.request_id,
            "task_id": f"{experiment.id}.{task_name or order.request_id}",
            "state": experiment.state,
            "hparams": order.hparams,
            "seed": order.seed,
            "start_time": now,
            "warm_start_checkpoint": _start_checkpoint(conn, experiment, order),
        }
        for order in orders
    ]
    ids = trials.insert_rows(conn, rows)
    tasks.insert_rows(conn, [_task(now, experiment, trial_id, task_id) for task_id, trial_id in ids.items()])
    return [ids[row["task_id"]] for row in rows]


def resume(conn: Connection, now: datetime, experiment: Experiment, trial: Trial) -> None:
    """Take an ended trial up again under its old id with a fresh task (continue)."""
    task_id = f"{experiment.id}.{trial.request_id}-{trials.task_count(conn, trial.id)}"
    trials.update_row(
        conn,
        trial.id,
        {
            "task_id": task_id,
            "state": experiment.state,
            "end_time": None,
            "restarts": 0,
            "early_stopped": False,
            "stop_reason": None,
            "early_exit": None,
            "exit_reported": False,
            "op_length": None,
            "op_completed": None,
            "op_closed": False,
        },
    )
    tasks.insert_row(conn, _task(now, experiment, trial.id, task_id))


def reopen(conn: Connection, experiment: Experiment, trial: Trial) -> None:
    """Classic: a completed trial waits for what the continued search may ask of it; until then it is left alone."""
    values: TrialValues = {
        "state": experiment.state,
        "stop_reason": None,
        "exit_reported": False,
        "op_length": None,
        "op_completed": None,
        "op_closed": False,
    }
    trials.update_row(conn, trial.id, values)


def is_reopened(trial: Trial) -> bool:
    """Return whether its last run is over, as far as anybody knows for good."""
    return trial.end_time is not None and trial.state not in TERMINAL


def is_finished(trial: Trial) -> bool:
    """Classic: its last operation is complete, and there will be no other."""
    return trial.op_closed and trial.op_length is not None and trial.op_completed == trial.op_length


def push(conn: Connection, now: datetime, trial_id: int, wanted: State, reason: str) -> None:
    """Put a trial into the state its experiment (or user, or searcher) wants, and signal what runs.

    The same state again sends its signal again, so that a kill can be repeated.
    """
    trial = trials.get(conn, trial_id)
    if not trial_accepts(State(trial.state), wanted):
        return
    if trial.state != wanted:
        trials.update_row(conn, trial_id, {"state": wanted})
    allocation = allocations.live_of_trial(conn, trial_id)
    if allocation is None:
        if wanted in STOPPING:
            finish(conn, now, trial, terminal_of(wanted))
        return
    what = signal_for(wanted)
    if what is None:
        return
    if allocation_state.signal(conn, now, allocation, what, reason=reason, timeout_s=timeout_of(conn, trial)):
        allocation_ended(conn, now, trial_id, ExitKind.KILLED)


def push_all(conn: Connection, now: datetime, experiment_id: int, wanted: State, reason: str) -> None:
    """`push` for every trial of an experiment, also where it is in that state: a kill can be repeated.

    Of a large one for those that fit into one transaction; `push_more` follows (lifecycle/search_batches.py).
    """
    live = trials.with_live_allocation(conn, experiment_id)
    if len(live) <= _LIVE_AT_ONCE:
        for trial_id, _ in live:
            push(conn, now, trial_id, wanted, reason)
    push_more(conn, now, experiment_id, wanted, reason)


def push_more(conn: Connection, now: datetime, experiment_id: int, wanted: State, reason: str | None = None) -> bool:
    """`push` for some of the trials that are not in that state yet; whether there are more, which is written down."""
    takers = {state for state in State if trial_accepts(state, wanted)}
    live = [n for n, state in trials.with_live_allocation(conn, experiment_id) if state in takers - {wanted}]
    for trial_id in live[:_LIVE_AT_ONCE]:
        push(conn, now, trial_id, wanted, reason or _REASONS.get(wanted, f"the experiment is {wanted}"))
    idle = trials.idle(conn, experiment_id, sorted(takers if wanted in STOPPING else takers - {wanted}), _IDLE_AT_ONCE)
    _push_idle(conn, now, idle, wanted)
    more = len(live) > _LIVE_AT_ONCE or len(idle) == _IDLE_AT_ONCE
    if more:
        search_queue.mark(conn, experiment_id)
    return more


def _push_idle(conn: Connection, now: datetime, trial_ids: Sequence[int], wanted: State) -> None:
    """Push the state at trials that have nothing to signal: by the same few statements for all."""
    if wanted not in STOPPING:
        trials.update_rows(conn, trial_ids, {"state": wanted})
        return
    tasks.end_of_trials(conn, now, trial_ids)
    trials.update_rows(conn, trial_ids, {"state": terminal_of(wanted), "end_time": now})


def allocation_ended(conn: Connection, now: datetime, trial_id: int, kind: ExitKind) -> None:
    """Decide what becomes of the trial and write it down."""
    trial = trials.get(conn, trial_id)
    if trial.state in TERMINAL:
        return
    experiment = experiments.get(conn, trial.experiment_id)
    at_exit = _at_exit(conn, experiment, trial)
    decision = decide_exit(at_exit, kind)
    if decision.restarts != trial.restarts:
        trials.update_row(conn, trial_id, {"restarts": decision.restarts})
        text = f"trial {trial_id} failed; restart {decision.restarts} of {at_exit.max_restarts} follows"
        append_master_line(conn, now, trial.task_id, text, level="ERROR")
    if decision.state not in TERMINAL:
        return
    if kind == ExitKind.ERRORED and decision.state == State.ERROR and not at_exit.retries_canceled:
        text = (
            f"trial {trial_id} failed and is not started again: {decision.restarts} of {at_exit.max_restarts} restarts"
        )
        append_master_line(conn, now, trial.task_id, f"{text} are used", level="ERROR")
    if kind == ExitKind.ERRORED and at_exit.retries_canceled:
        text = f"trial failed and matched logs to a don't retry policy; trial {trial_id} is not started again"
        append_master_line(conn, now, trial.task_id, text, level="ERROR")
    if kind == ExitKind.COMPLETED and _leaves_work(experiment, trial):
        trials.update_row(conn, trial_id, {"early_exit": ExitReason.USER_REQUESTED_STOP})
    if decision.state == State.COMPLETED:
        _remark_missing_metric(conn, now, experiment, trial)
    finish(conn, now, trial, decision.state)


def _remark_missing_metric(conn: Connection, now: datetime, experiment: Experiment, trial: Trial) -> None:
    """Say in the log that the search could not judge this trial: its metric has another name, or is never reported."""
    metric = experiment.searcher_metric
    if metric is None or trial.best_validation_value is not None:
        return
    reported = metric_trial.validation_names(conn, trial.id, _NAMED_METRICS)
    if not searcher_of(experiment.config).is_multi_trial and not reported:
        return  # nobody compares it with another
    known = f"it has reported {', '.join(reported)}" if reported else "it has reported none"
    text = f"validation metric '{metric}' (searcher.metric) was never reported by trial {trial.id}; {known}"
    append_master_line(conn, now, trial.task_id, text, level="WARNING")


def finish(conn: Connection, now: datetime, trial: Trial, state: State) -> None:
    """Finish the trial; `exit_reported` stays false until the searcher knows."""
    trials.update_row(conn, trial.id, {"state": state, "end_time": trial.end_time or now})
    tasks.end(conn, now, trial.task_id)


def allocate(conn: Connection, now: datetime, wanting: WaitingTrial) -> str | None:
    """Queue the next run of a trial that wants one; None while it waits after failures of the system."""
    earliest = _not_before(conn, wanting.id)
    if earliest is not None and now < earliest:
        return None
    run_id = wanting.run_id + 1
    # First of all: from here on reports of older runs are refused.
    trials.update_row(conn, wanting.id, {"run_id": run_id})
    resources = ExperimentConfig.load(experiments.get(conn, wanting.experiment_id).config).resources
    return allocation_state.request(
        conn,
        now,
        task_id=wanting.task_id,
        trial_id=wanting.id,
        run_id=run_id,
        slots=resources.slots_per_trial,
        pool=wanting.pool,
        preemptible=True,
        single_node=bool(resources.is_single_node),
    )


def timeout_of(conn: Connection, trial: Trial) -> int:
    """Return the seconds a trial has between the request to leave and the kill."""
    return ExperimentConfig.load(experiments.get(conn, trial.experiment_id).config).preemption_timeout


def _task(now: datetime, experiment: Experiment, trial_id: int, task_id: str) -> TaskValues:
    retention = ExperimentConfig.load(experiment.config).retention_policy
    return {
        "id": task_id,
        "type": task_kinds.TRIAL.name,
        "job_id": experiment.job_id,
        "trial_id": trial_id,
        "experiment_id": experiment.id,
        "start_time": now,
        "log_retention_days": retention.log_retention_days if retention else None,
    }


def _start_checkpoint(conn: Connection, experiment: Experiment, order: Create) -> str | None:
    if order.checkpoint_of is None:
        return experiment.warm_start_checkpoint
    source = trials.by_request(conn, experiment.id, order.checkpoint_of)
    return None if source is None else source.latest_checkpoint


def _at_exit(conn: Connection, experiment: Experiment, trial: Trial) -> TrialAtExit:
    return TrialAtExit(
        state=State(trial.state),
        restarts=trial.restarts,
        max_restarts=ExperimentConfig.load(experiment.config).max_restarts,
        early_stopped=trial.early_stopped,
        early_exit=trial.early_exit is not None,
        finished=is_finished(trial),
        retries_canceled=bool(trials.policy_hits(conn, trial.task_id, "cancel_retries")),
    )


def _leaves_work(experiment: Experiment, trial: Trial) -> bool:
    """Classic: it exits 0 of its own accord although the search still counts on it."""
    live = experiment.generation == "classic" and trial.state not in STOPPING and trial.early_exit is None
    return live and not (trial.op_closed and trial.op_completed == trial.op_length)


def _not_before(conn: Connection, trial_id: int) -> datetime | None:
    """Return when to retry: one failure of the system at once, repeated ones ever more slowly, as they cost no restart.

    One that came after a while of training begins no such series.
    """
    ends = allocations.latest_ends(conn, trial_id, _NOTICED_FAILURES)
    failures = 0
    for end in ends:
        if end.exit_kind != ExitKind.TRANSIENT or _has_trained(end):
            break
        failures += 1
    if failures < 2 or ends[0].ended_at is None:
        return None
    return ends[0].ended_at + timedelta(seconds=_SYSTEM_FAILURE.delay(failures - 2))


def _has_trained(end: AllocationEnd) -> bool:
    if end.started_at is None or end.ended_at is None:
        return False
    return (end.ended_at - end.started_at).total_seconds() >= _TRAINED_S
