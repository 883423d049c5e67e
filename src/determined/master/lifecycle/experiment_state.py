"""An experiment's state: changed by the table, pushed to its trials, ended when none of them lives."""

from datetime import datetime

from sqlalchemy import Connection

from determined.errors import FailedPrecondition
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import search as searches
from determined.master.db.queries import search_queue
from determined.master.db.rows.experiments import Experiment, ExperimentValues
from determined.master.lifecycle import searchers, trial_state, webhooks
from determined.master.lifecycle.states import STOPPING, TERMINAL, State, may_become, terminal_of
from determined.search.registry import searcher_of


def store(
    conn: Connection,
    now: datetime,
    experiment: Experiment,
    values: ExperimentValues,
    unmanaged_trial_id: int | None = None,
) -> None:
    """Write columns of an experiment, and what follows from a new state for webhooks.

    `unmanaged_trial_id`: the trial by which an unmanaged experiment changes.
    """
    experiments.update_row(conn, experiment.id, values)
    state = values.get("state", experiment.state)
    if state != experiment.state:
        webhooks.state_changed(conn, now, experiment.id, state, unmanaged_trial_id)


def move(
    conn: Connection,
    now: datetime,
    experiment: Experiment,
    wanted: State,
    reason: str,
    *,
    error: str | None = None,
) -> None:
    """Change the state as the table allows and push it to every live trial. The same state again is no change."""
    current = State(experiment.state)
    if current == wanted:
        return
    if not may_become(current, wanted):
        again = (
            f"; to run it again: det e continue {experiment.id}"
            if wanted == State.ACTIVE and current in TERMINAL
            else ""
        )
        raise FailedPrecondition(
            f"experiment {experiment.id} cannot become {wanted}: incompatible state {current}{again}"
        )
    values: ExperimentValues = {"state": wanted}
    if error is not None:
        values["error"] = error
    store(conn, now, experiment, values)
    if wanted in STOPPING:
        search_queue.drop_operations(conn, experiment.id)  # it begins nothing any more
    trial_state.push_all(conn, now, experiment.id, wanted, reason)


def finish_if_idle(conn: Connection, now: datetime, experiment_id: int) -> None:
    """End a stopping experiment when no trial of it lives."""
    experiment = experiments.get(conn, experiment_id)
    if experiment.state not in STOPPING:
        return
    if experiments.has_live_trial(conn, experiment_id, sorted(TERMINAL)):
        return
    state = terminal_of(State(experiment.state))
    values: ExperimentValues = {"state": state, "end_time": now}
    if state == State.COMPLETED:
        values["progress"] = 1.0
    store(conn, now, experiment, values)
    searchers.release(conn, experiment_id)
    if state != State.COMPLETED or not searcher_of(experiment.config).extendable:
        searches.forget(conn, experiment_id)
