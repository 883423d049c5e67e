"""More trials for a search, while it runs or after it has completed. Inside a write transaction."""

from datetime import datetime

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import ExperimentConfig
from determined.errors import FailedPrecondition, InvalidArgument
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import job as jobs
from determined.master.db.queries import search as searches
from determined.master.db.rows.experiments import Experiment, ExperimentValues
from determined.master.lifecycle import experiment as lifecycle
from determined.master.lifecycle import operations, search, searchers
from determined.master.lifecycle.queue_position import queue_position
from determined.master.lifecycle.states import State
from determined.search.registry import searcher_names

MAX_TRIALS = 100_000  # of one extension: all that may run at once are created in one transaction


def extend(conn: Connection, now: datetime, experiment_id: int, trials: int) -> None:
    """Let a search run `trials` more; it goes on from all that it knows. A completed experiment becomes ACTIVE again.

    Raises:
        InvalidArgument: the number makes no sense.
        FailedPrecondition: its state or its method allows no extension; the message says what to do instead.
    """
    if not 1 <= trials <= MAX_TRIALS:
        raise InvalidArgument(f"trials={trials} must lie between 1 and {MAX_TRIALS}")
    experiment = experiments.get(conn, experiment_id)
    _check(conn, experiment)
    lifecycle.check_warm_start(conn, experiment.warm_start_checkpoint)
    over = experiment.state == State.COMPLETED
    values: ExperimentValues = {"config": _enlarged(experiment.config, trials)}
    if over:
        values |= {"state": State.PAUSED, "end_time": None, "error": None}
        jobs.update_row(conn, experiment.job_id, {"position": queue_position(now)})
    experiments.update_row(conn, experiment_id, values)
    operations.run(conn, now, experiment_id, searchers.extended(trials))
    search.settle(conn, now, experiment_id)
    if over:
        lifecycle.activate(conn, now, experiment_id)


def _check(conn: Connection, experiment: Experiment) -> None:
    number, state = experiment.id, State(experiment.state)
    if experiment.unmanaged:
        raise FailedPrecondition(f"experiment {number} is unmanaged; its client decides which trials it has")
    if state in (State.ERROR, State.CANCELED):
        raise FailedPrecondition(
            f"experiment {number} is {state}: run `det experiment continue {number}` to finish its trials first,"
            " then extend it"
        )
    if state not in (State.ACTIVE, State.PAUSED, State.COMPLETED):
        raise FailedPrecondition(f"experiment {number} is {state}; extend it once that is over")
    if experiment.archived:
        raise FailedPrecondition(f"experiment {number} is archived; run `det experiment unarchive {number}` first")
    if state == State.COMPLETED and searches.snapshot_seq(conn, number) is None:
        name = ExperimentConfig.load(experiment.config).searcher.name
        extendable = ", ".join(searcher_names(lambda searcher: searcher.extendable))
        raise FailedPrecondition(
            f"experiment {number} is over and its search ({name}) left nothing to extend: only {extendable} keep what"
            " they need; fork the experiment instead"
        )


def _enlarged(config: JsonObject, trials: int) -> JsonObject:
    """Return the number of trials as people see it; a search that is continued plans without it (`search.begin`)."""
    searcher = config["searcher"]
    if not isinstance(searcher.get("max_trials"), int):
        return config
    return {**config, "searcher": {**searcher, "max_trials": searcher["max_trials"] + trials}}
