"""Actions of people on one trial, inside a write transaction."""

import uuid
from datetime import datetime

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import FailedPrecondition
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import trial as trials
from determined.master.lifecycle import search, trial_state, unmanaged
from determined.master.lifecycle.states import State
from determined.search.method import Create


def kill(conn: Connection, now: datetime, trial_id: int) -> None:
    """End one trial now; the searcher hears that the user canceled it. A repeat sends the signal again."""
    trial = trials.get(conn, trial_id)
    trial_state.push(conn, now, trial_id, State.STOPPING_KILLED, "the trial was killed")
    search.settle(conn, now, trial.experiment_id)


def create_unmanaged(
    conn: Connection,
    now: datetime,
    experiment_id: int,
    hparams: JsonObject,
    external_id: str | None = None,
) -> int:
    """Create a trial that its client runs itself; it is never scheduled."""
    experiment = experiments.get(conn, experiment_id)
    if not experiment.unmanaged:
        raise FailedPrecondition(f"experiment {experiment_id} is managed; its searcher creates the trials")
    unmanaged.check_not_deleted(experiment)
    order = Create(request_id=str(uuid.uuid4()), hparams=hparams, seed=0)
    [trial_id] = trial_state.create(conn, now, experiment, [order], task_name=external_id)
    trials.update_row(conn, trial_id, {"external_id": external_id, "run_id": 1})
    return trial_id
