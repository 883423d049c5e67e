"""Outcome of a followed experiment: one block that names the failure and the next command, and the exit status."""

import sys
import time
from dataclasses import replace

from determined.api import experiment, task, trial
from determined.api.session import Session
from determined.cli import log_follow, render
from determined.errors import DeterminedError
from determined.rundir.failure_cause import Cause, read_cause
from determined.search.registry import is_multi_trial
from determined.wire.experiment import Experiment, ListTrials
from determined.wire.trial import Trial, TrialState

_OVER = {"COMPLETED", "CANCELED", "ERROR"}
_SETTLE_SECONDS = 30.0  # only ends a hang: an experiment ends right after its last trial


def follow(session: Session, experiment_id: int) -> int:
    """Follow the first trial to its end and say how it went. Returns the exit status."""
    trial_id = log_follow.follow_first_trial(session, experiment_id)
    ended = _settled(session, experiment_id, trial_id)
    state = render.state_of(ended.state)
    if trial_id is not None and state not in {"ERROR", "CANCELED"} and _state(session, trial_id) != "ERROR":
        log_follow.say_ended(trial_id)
    return report(session, ended, trial_id)


def report(session: Session, ended: Experiment, trial_id: int | None = None) -> int:
    """Print why it did not complete. Returns the exit status: 0 unless it failed or was canceled."""
    state = render.state_of(ended.state)
    if state == "CANCELED":
        render.warn(f"Experiment {ended.id} was canceled; to run it again: det e continue {ended.id}")
        return 1
    if state == "ERROR":
        _print_block(*failure_block(session, ended, trial_id))
        return 1
    failed = trial.get(session, trial_id) if trial_id is not None else None
    if failed is not None and render.state_of(failed.state) == "ERROR":
        title = f"Trial {failed.id} failed; experiment {ended.id} goes on ({state})"
        _print_block(title, _parts(_cause(session, failed), failed.id))
    return 0


def failed_trials(session: Session, experiment_id: int) -> str:
    """Return `; 3 of 4 trials failed`, or nothing where none did."""
    states = [render.state_of(t.state) for t in experiment.trials(session, experiment_id)]
    failed = states.count("ERROR")
    return f"; {failed} of {len(states)} trials failed" if failed else ""


def failure_block(session: Session, failed: Experiment, trial_id: int | None = None) -> tuple[str, str]:
    """Return the title and the lines that say why an experiment failed. `trial_id`: of a trial that was followed."""
    trial_id = _failed_trial(session, failed.id, trial_id)
    cause = _cause(session, trial.get(session, trial_id)) if trial_id is not None else Cause()
    what = cause.what or failed.error
    cause = replace(cause, what=what, likely=cause.likely or _more_than(what, failed.error))
    return f"Experiment {failed.id} failed", _parts(cause, trial_id, failed.id)


def trial_failure_block(session: Session, failed: Trial) -> tuple[str, str]:
    """Return the title and the lines that say why a trial failed."""
    return f"Trial {failed.id} failed", _parts(_cause(session, failed), failed.id)


def _settled(session: Session, experiment_id: int, trial_id: int | None) -> Experiment:
    """Return the experiment as it is once its followed trial has ended; a search goes on with its other trials."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    while True:
        current = experiment.get(session, experiment_id)
        state = render.state_of(current.state)
        is_ending = state.startswith("STOPPING") or not is_multi_trial(current.searcher_type)
        has_ended = trial_id is None or _state(session, trial_id) in _OVER
        if state in _OVER or not (is_ending and has_ended) or time.monotonic() > deadline:
            return current
        time.sleep(0.1)


def _state(session: Session, trial_id: int) -> str:
    return render.state_of(trial.get(session, trial_id).state)


def _failed_trial(session: Session, experiment_id: int, trial_id: int | None) -> int | None:
    """Return the followed trial where it failed, else the first that did."""
    if trial_id is not None and _state(session, trial_id) == "ERROR":
        return trial_id
    params = ListTrials(limit=1, states=[TrialState.ERROR])
    trials = experiment.trials(session, experiment_id, params, all_pages=False)
    return next((t.id for t in trials), None)


def _print_block(title: str, parts: str) -> None:
    render.line(f"\n{title}", style="red", file=sys.stderr)
    render.line(parts, file=sys.stderr)


def _parts(cause: Cause, trial_id: int | None, experiment_id: int | None = None) -> str:
    lines = {
        "what": cause.what,
        "where": cause.where,
        "cause": cause.likely,
        "fix": cause.advice,
        "next": f"det trial logs {trial_id} --tail 50" if trial_id is not None else f"det e describe {experiment_id}",
    }
    return "\n".join(f"  {name + ':':<7} {text}" for name, text in lines.items() if text)


def _more_than(what: str | None, error: str | None) -> str | None:
    """Return the experiment's own reason, where it says more than its trials do."""
    return None if error == what or (error or "").startswith("every trial failed") else error


def _cause(session: Session, failed: Trial) -> Cause:
    """Return the cause that the runner of the trial's last run reported."""
    if not failed.task_id:
        return Cause()
    try:
        newest = next((a for a in task.get(session, failed.task_id).allocations if a.exit_reason), None)
    except DeterminedError:  # the experiment's own reason is still known
        return Cause()
    return read_cause(newest.exit_reason or "") if newest is not None else Cause()
