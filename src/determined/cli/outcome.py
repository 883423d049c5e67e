"""Outcome of a followed experiment: one block that names the failure and the next command, and the exit status."""

import sys
import time

from determined.api import experiment, trial
from determined.api.session import Session
from determined.cli import log_follow, render
from determined.errors import DeterminedError
from determined.rundir.failure_cause import Cause, LogLine, find_cause
from determined.search.registry import is_multi_trial
from determined.wire.base import OrderBy
from determined.wire.experiment import Experiment, ListTrials
from determined.wire.log import LogQuery
from determined.wire.trial import TrialState

_OVER = {"COMPLETED", "CANCELED", "ERROR"}
_SETTLE_SECONDS = 30.0  # only ends a hang: an experiment ends right after its last trial
_LAST_LINES = 400  # of the log, enough for the tracebacks of several ranks


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
    failed = _failed_trial(session, ended.id, trial_id)
    if state == "ERROR":
        _print_block(f"Experiment {ended.id} failed", session, ended, failed)
        return 1
    if failed is not None and failed == trial_id:
        _print_block(f"Trial {failed} failed; experiment {ended.id} goes on ({state})", session, ended, failed)
    return 0


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


def _print_block(title: str, session: Session, ended: Experiment, trial_id: int | None) -> None:
    cause = _cause(session, trial_id) if trial_id is not None else Cause()
    what = cause.what or ended.error
    lines = {
        "what": what,
        "where": cause.where,
        "cause": cause.likely or _more_than(what, ended.error),
        "fix": cause.advice,
        "next": f"det trial logs {trial_id} --tail 50" if trial_id is not None else f"det e describe {ended.id}",
    }
    parts = [f"  {name + ':':<7} {text}" for name, text in lines.items() if text]
    render.line(f"\n{title}", style="red", file=sys.stderr)
    render.line("\n".join(parts), file=sys.stderr)


def _more_than(what: str | None, error: str | None) -> str | None:
    """Return the experiment's own reason, where it says more than its trials do."""
    return None if error == what or (error or "").startswith("every trial failed") else error


def _cause(session: Session, trial_id: int) -> Cause:
    try:
        entries = list(trial.logs(session, trial_id, LogQuery(limit=_LAST_LINES, order_by=OrderBy.DESC)))
    except DeterminedError:  # the log may be gone by retention: the experiment's own reason is still known
        return Cause()
    lines = [LogLine(e.log or "", e.source, (e.container_id, e.rank_id)) for e in reversed(entries)]
    return find_cause(lines)
