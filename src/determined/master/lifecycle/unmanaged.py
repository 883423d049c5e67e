"""Unmanaged (detached) experiments: their client runs the trials and says how they stand. Inside a write transaction.

A trial that runs is stored ACTIVE, as a managed one is, so that kill and cancel need to know nothing of all this.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from determined.errors import FailedPrecondition, InvalidArgument
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import trial as trials
from determined.master.db.queries import unmanaged as queries
from determined.master.db.rows.experiments import Experiment, ExperimentValues, Trial, TrialValues
from determined.master.lifecycle import experiment_state, webhooks
from determined.master.lifecycle.states import DELETION, TERMINAL, State

SILENCE = timedelta(minutes=5)

# What a client may say, and what is stored for it.
_REPORTED = {
    "RUNNING": State.ACTIVE,
    "ACTIVE": State.ACTIVE,
    "PAUSED": State.PAUSED,
    "COMPLETED": State.COMPLETED,
    "ERROR": State.ERROR,
    "CANCELED": State.CANCELED,
}
# An experiment shows its most advanced trial; canceled ones count as failed.
_ADVANCE = (State.PAUSED, State.CANCELED, State.ERROR, State.COMPLETED, State.ACTIVE)


@dataclass(frozen=True, slots=True)
class Started:
    run_id: int
    steps_completed: int
    latest_checkpoint: str | None


def created(conn: Connection, trial_id: int) -> None:
    """Let a new trial wait for its client, whatever its experiment has come to."""
    trials.update_row(conn, trial_id, {"state": State.PAUSED})


def check_not_deleted(experiment: Experiment) -> None:
    """Refuse to go on with an experiment that is being deleted: its state would be lost, and with it the deletion."""
    if experiment.state in DELETION:
        raise FailedPrecondition(f"experiment {experiment.id} is {experiment.state}; report to a new experiment")


def start(conn: Connection, now: datetime, trial_id: int, *, resume: bool) -> Started:
    """Begin (or take up again) a trial for its client: reports of earlier runs are refused from here on.

    Raises:
        FailedPrecondition: the trial has been started before, and is not to be resumed.
    """
    trial = _unmanaged(conn, trial_id)
    is_first = trial.last_activity is None
    if not is_first and not resume:
        raise FailedPrecondition(
            f"trial {trial_id} has already been started; start it with resume=true, or create another trial"
        )
    run_id = trial.run_id if is_first else trial.run_id + 1
    trials.update_row(conn, trial_id, {"run_id": run_id})
    webhooks.run_continued(conn, trial_id)
    _set_state(conn, now, trial, State.ACTIVE, end=now)
    webhooks.run_started(conn, now, trial_id)
    latest = None if is_first else trials.latest_checkpoint(conn, trial_id)
    if latest is None:
        return Started(run_id, 0, None)
    return Started(run_id, latest.steps_completed, latest.uuid)


def heartbeat(conn: Connection, now: datetime, trial_id: int, state: str | None) -> None:
    """Record a sign of life, with or without a new state."""
    trial = _unmanaged(conn, trial_id)
    if state is None:
        note_activity(conn, now, trial_id)
        return
    stored = _REPORTED.get(state)
    if stored is None:
        raise InvalidArgument(f"state {state!r} cannot be set; use one of {', '.join(_REPORTED)}")
    _set_state(conn, now, trial, stored, end=now)
    if stored == State.ACTIVE != trial.state:
        webhooks.run_started(conn, now, trial_id)


def note_activity(conn: Connection, now: datetime, trial_id: int) -> None:
    """Record a sign of life."""
    trials.update_row(conn, trial_id, {"last_activity": now})


def sweep(conn: Connection, now: datetime, listening_since: datetime) -> list[int]:
    """End running trials that have been silent for too long. Returns the experiments touched.

    While no master listened nobody could be heard: silence begins with this master's start at the earliest.
    """
    if now - listening_since < SILENCE:
        return []
    silent = queries.silent_since(conn, now - SILENCE)
    for trial in silent:
        _set_state(conn, now, trial, State.ERROR, end=trial.last_activity or now, alive=False)
    return sorted({trial.experiment_id for trial in silent})


def _set_state(
    conn: Connection, now: datetime, trial: Trial, state: State, *, end: datetime, alive: bool = True
) -> None:
    over = state in TERMINAL
    values: TrialValues = {"state": state, "end_time": end if over else None, "exit_reported": over}
    if alive:
        values["last_activity"] = now
    trials.update_row(conn, trial.id, values)
    queries.set_task_end(conn, trial.task_id, end if over else None)
    _follow_trials(conn, now, trial)


def _follow_trials(conn: Connection, now: datetime, trial: Trial) -> None:
    """Set the state of the experiment to that of its most advanced trial; this one has changed."""
    experiment_id = trial.experiment_id
    states = {State(s) for s in queries.trial_states(conn, experiment_id)}
    state = max(states & set(_ADVANCE), key=_ADVANCE.index, default=State.PAUSED)
    end = queries.latest_end(conn, experiment_id) if state in TERMINAL else None
    values: ExperimentValues = {"state": state, "end_time": end}
    if state == State.COMPLETED:
        values["progress"] = 1.0
    experiment_state.store(conn, now, experiments.get(conn, experiment_id), values, trial.id)


def _unmanaged(conn: Connection, trial_id: int) -> Trial:
    trial = trials.get(conn, trial_id)
    experiment = experiments.get(conn, trial.experiment_id)
    if not experiment.unmanaged:
        raise FailedPrecondition(f"trial {trial_id} is managed; the master alone starts it and sets its state")
    check_not_deleted(experiment)
    return trial
