"""Verbs of experiments, each a function inside a write transaction."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from determined.config import ExperimentConfig, task_kinds
from determined.config.resources import DEFAULT_PRIORITY
from determined.config.storage import place_problem
from determined.errors import FailedPrecondition, InvalidArgument
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import checkpoint as checkpoints
from determined.master.db.queries import environment_lock as environment_locks
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import job as jobs
from determined.master.db.queries import model_version as model_versions
from determined.master.db.queries import submission
from determined.master.db.queries import trial as trials
from determined.master.db.rows.experiments import Experiment, ExperimentValues, JobValues
from determined.master.lifecycle import allocation_state, experiment_state, search, trial_state
from determined.master.lifecycle.job_limits import check_priority, check_weight
from determined.master.lifecycle.pools import DEFAULT_POOL
from determined.master.lifecycle.queue_position import queue_position
from determined.master.lifecycle.searchers import Initial
from determined.master.lifecycle.states import (
    LIVE,
    STOPPING,
    TERMINAL,
    ExitKind,
    State,
)
from determined.search.registry import searcher_of
from determined.search.rng import Rng
from determined.search.sampling import carry_over, sample


@dataclass(frozen=True, slots=True)
class NewExperiment:
    """A submission, merged, validated and resolved."""

    owner_id: int
    project_id: int
    workspace_id: int
    parent_id: int | None
    config: ExperimentConfig
    active: dict[str, Any]
    original_config: str
    model_definition: bytes | None
    template: str | None
    generation: str
    unmanaged: bool
    submitter_python: str | None
    warm_start_checkpoint: str | None
    external_id: str | None = None
    started: Initial | None = None  # its search, where that has begun outside of the transaction (`search.start`)
    locks_of: int | None = None  # an experiment whose resolved packages this one has from the start


def create(conn: Connection, now: datetime, new: NewExperiment) -> int:
    """Job, experiment (PAUSED), searcher and first trials. Unmanaged: no search, its client brings the trials."""
    check_warm_start(conn, new.warm_start_checkpoint)
    check_storage(new.active)
    job_id = _create_job(conn, now, new)
    experiment_id = experiments.insert_row(
        conn,
        {
            "job_id": job_id,
            "project_id": new.project_id,
            "owner_id": new.owner_id,
            "parent_id": new.parent_id,
            "state": State.PAUSED,
            "name": new.config.name,
            "description": new.config.description,
            "labels": list(new.config.labels),
            "config": new.active,
            "original_config": new.original_config,
            "template": new.template,
            "unmanaged": new.unmanaged,
            "external_id": new.external_id,
            "generation": new.generation,
            "searcher_metric": new.config.searcher.metric,
            "smaller_is_better": new.config.searcher.smaller_is_better,
            "warm_start_checkpoint": new.warm_start_checkpoint,
            "submitter_python": new.submitter_python,
            "start_time": now,
        },
    )
    if new.model_definition is not None:
        experiments.put_model_definition(conn, experiment_id, new.model_definition)
    if new.locks_of is not None:
        environment_locks.copy(conn, new.locks_of, experiment_id)
    if not new.unmanaged:
        search.begin(conn, now, experiment_id, new.started)
    return experiment_id


def activate(conn: Connection, now: datetime, experiment_id: int) -> None:
    check_storage(experiments.get(conn, experiment_id).config)
    _move(conn, now, experiment_id, State.ACTIVE, "activated")


def pause(conn: Connection, now: datetime, experiment_id: int) -> None:
    _move(conn, now, experiment_id, State.PAUSED, "the experiment was paused")


def cancel(conn: Connection, now: datetime, experiment_id: int) -> None:
    """Graceful; nothing to do when it is already stopping or over."""
    if experiments.get(conn, experiment_id).state in STOPPING | TERMINAL:
        return
    _move(conn, now, experiment_id, State.STOPPING_CANCELED, "the experiment was canceled")


def kill(conn: Connection, now: datetime, experiment_id: int) -> None:
    """Kill at once; escalates a pending cancel. A repeat sends the signals again.

    A search that is over (STOPPING_COMPLETED) stays completed, but trials that are slow to leave are killed.
    """
    state = experiments.get(conn, experiment_id).state
    if state in TERMINAL:
        return
    if state not in (State.STOPPING_KILLED, State.STOPPING_COMPLETED, State.STOPPING_ERROR):
        _move(conn, now, experiment_id, State.STOPPING_KILLED, "the experiment was killed")
        return
    trial_state.push_all(conn, now, experiment_id, State.STOPPING_KILLED, "the experiment was killed")
    search.settle(conn, now, experiment_id)


def fail(conn: Connection, now: datetime, experiment_id: int, why: str) -> None:
    """End it in ERROR (its trials are killed); `why` is for people."""
    experiment = experiments.get(conn, experiment_id)
    if experiment.state not in LIVE:
        return
    experiment_state.move(conn, now, experiment, State.STOPPING_ERROR, why, error=why)
    search.settle(conn, now, experiment_id)


def archive(conn: Connection, now: datetime, experiment_id: int) -> None:
    _set_archived(conn, experiment_id, True)


def unarchive(conn: Connection, now: datetime, experiment_id: int) -> None:
    _set_archived(conn, experiment_id, False)


def continue_experiment(
    conn: Connection,
    now: datetime,
    experiment_id: int,
    active: dict[str, Any] | None,
    config: ExperimentConfig | None,
) -> None:
    """Take an ended experiment up again under its own id: same trials, restarts 0, a fresh searcher of the same seed.

    `active` and `config` replace the active config (single searcher only); None keeps it.
    """
    experiment = experiments.get(conn, experiment_id)
    _check_continuable(conn, experiment, active)
    if _may_start_afresh(conn, experiment):
        check_warm_start(conn, experiment.warm_start_checkpoint)
    values: ExperimentValues = {"state": State.PAUSED, "progress": 0.0, "end_time": None, "error": None}
    if active is not None:
        values["config"] = active
        before, after = ExperimentConfig.load(experiment.config), ExperimentConfig.load(active)
        if after.environment.python != before.environment.python:
            environment_locks.forget(conn, experiment_id)  # they are of other requirements
        _take_new_hparams(conn, experiment, active)
    experiments.update_row(conn, experiment_id, values)
    jobs.update_row(conn, experiment.job_id, {"position": queue_position(now)})
    if config is not None:
        jobs.update_row(conn, experiment.job_id, _job_resources(config))
    search.begin(conn, now, experiment_id)
    if experiments.get(conn, experiment_id).state == State.PAUSED:  # else its trials had nothing left to do
        activate(conn, now, experiment_id)


def begin_delete(conn: Connection, now: datetime, experiment_id: int) -> None:
    """Rows stay until the files are gone (`finish_delete`). Refused while others need its files."""
    registered = model_versions.registered_of_experiment(conn, experiment_id)
    if registered:
        raise FailedPrecondition(
            f"experiment {experiment_id} cannot be deleted: its checkpoints are registered as model versions"
            f" ({', '.join(registered[:3])}); delete those versions first"
        )
    users = checkpoints.live_starters(conn, experiment_id)
    if users:
        raise FailedPrecondition(
            f"experiment {experiment_id} cannot be deleted: experiments {users} start from its checkpoints and are not"
            " over; end or delete those first"
        )
    _move(conn, now, experiment_id, State.DELETING, "deleted")


def delete_some(conn: Connection, experiment_id: int, limit: int) -> bool:
    """Delete a piece, so that none holds the writer for long; False when `finish_delete` is to follow."""
    _require_deleting(experiments.get(conn, experiment_id))
    return experiments.delete_some(conn, experiment_id, limit)


def finish_delete(conn: Connection, experiment_id: int) -> None:
    experiment = experiments.get(conn, experiment_id)
    _require_deleting(experiment)
    experiments.delete_row(conn, experiment_id)
    jobs.delete_row(conn, experiment.job_id)


def fail_delete(conn: Connection, now: datetime, experiment_id: int, why: str = "") -> None:
    """Record that the deletion did not succeed and may be asked for again."""
    values: ExperimentValues = {"state": State.DELETE_FAILED}
    if why:
        values["error"] = why
    experiment = experiments.get(conn, experiment_id)
    if experiment.state == State.DELETING:
        experiment_state.store(conn, now, experiment, values)


def set_resources(conn: Connection, now: datetime, experiment_id: int, resources: JobValues) -> None:
    """Change what scheduling knows of a live experiment: priority, weight, max_slots, pool.

    A new priority also takes its place in the queue by submission time again. A new pool ends what runs gracefully,
    without costing a restart.
    """
    experiment = experiments.get(conn, experiment_id)
    if experiment.state not in LIVE:
        raise FailedPrecondition(f"experiment {experiment_id}: incompatible state {experiment.state}: it is over")
    job = jobs.get(conn, experiment.job_id)
    columns: JobValues = {**resources}
    _check_resources(columns)
    changes = {"resource_pool" if name == "pool" else name: value for name, value in columns.items()}
    config = {**experiment.config, "resources": {**experiment.config["resources"], **changes}}
    experiments.update_row(conn, experiment_id, {"config": config})
    if "priority" in columns:
        columns["position"] = queue_position(job.submitted_at)
    if columns:
        jobs.update_row(conn, job.id, columns)
    if "pool" in columns and columns["pool"] != job.pool:
        _leave_pool(conn, now, experiment_id, columns["pool"])


def check_warm_start(conn: Connection, uuid: str | None) -> None:
    """Refuse to make trials that start from a checkpoint which is gone or about to go.

    Inside the transaction that makes them: its deletion may have been asked for at any time before.

    Raises:
        FailedPrecondition: it cannot be started from any more.
    """
    if uuid is None:
        return
    state = submission.checkpoint_state(conn, uuid)
    if state != "COMPLETED":
        raise FailedPrecondition(f"checkpoint {uuid} is {state or 'gone'}; an experiment cannot start from it")


def check_storage(active: dict[str, Any]) -> None:
    """Refuse to run what would lose its checkpoints. Earlier releases have stored such configs.

    Raises:
        FailedPrecondition: its checkpoint storage has a path that means another place to everybody.
    """
    reason = place_problem(active.get("checkpoint_storage") or {})
    if reason is not None:
        raise FailedPrecondition(f"{reason}; submit it again with that path, or continue it with that one changed")


def _require_deleting(experiment: Experiment) -> None:
    if experiment.state != State.DELETING:
        raise FailedPrecondition(f"experiment {experiment.id}: incompatible state {experiment.state}")


def _create_job(conn: Connection, now: datetime, new: NewExperiment) -> str:
    job_id = str(uuid.uuid4())
    jobs.insert_row(
        conn,
        {
            "id": job_id,
            "type": task_kinds.TRIAL.job.name,
            "owner_id": new.owner_id,
            "workspace_id": new.workspace_id,
            "submitted_at": now,
            "position": queue_position(now),
            **_job_resources(new.config),
        },
    )
    return job_id


def _job_resources(config: ExperimentConfig) -> JobValues:
    resources = config.resources
    return {
        "pool": resources.resource_pool or DEFAULT_POOL,
        "priority": DEFAULT_PRIORITY if resources.priority is None else resources.priority,
        "weight": 1.0 if resources.weight is None else resources.weight,
        "max_slots": resources.max_slots,
    }


def _move(conn: Connection, now: datetime, experiment_id: int, wanted: State, reason: str) -> None:
    experiment = experiments.get(conn, experiment_id)
    experiment_state.move(conn, now, experiment, wanted, reason)
    search.settle(conn, now, experiment_id)


def _set_archived(conn: Connection, experiment_id: int, archived: bool) -> None:
    experiment = experiments.get(conn, experiment_id)
    if experiment.state not in TERMINAL:
        raise FailedPrecondition(
            f"experiment {experiment_id}: incompatible state {experiment.state}; only an ended one can be archived"
        )
    experiments.update_row(conn, experiment_id, {"archived": archived})


def _check_continuable(conn: Connection, experiment: Experiment, active: dict[str, Any] | None) -> None:
    if experiment.state not in TERMINAL:
        raise FailedPrecondition(
            f"experiment {experiment.id} is in non terminal state {experiment.state}, try again later"
        )
    if experiment.unmanaged:
        raise FailedPrecondition(f"experiment {experiment.id} is unmanaged; its client decides when it runs")
    name, searcher = ExperimentConfig.load(experiment.config).searcher.name, searcher_of(experiment.config)
    if not searcher.is_multi_trial:
        if active is not None and active["searcher"]["name"] != name:
            raise InvalidArgument(f"searcher {active['searcher']['name']!r}: a continued experiment must stay {name}")
        return
    if not searcher.continuable:
        raise FailedPrecondition(f"searcher {name!r} cannot be continued; fork the experiment instead")
    if active is not None:
        raise InvalidArgument(f"searcher {name!r} is continued without changes to its config; fork it to change it")
    states = {t.state for t in trials.of_experiment(conn, experiment.id)}
    if experiment.state == State.COMPLETED and states <= {State.COMPLETED}:
        raise FailedPrecondition(f"experiment {experiment.id}: every trial is COMPLETED, nothing to continue")


def _may_start_afresh(conn: Connection, experiment: Experiment) -> bool:
    """Tell whether a trial may begin without a checkpoint of its own; an only trial may have one."""
    if searcher_of(experiment.config).is_multi_trial:
        return True
    return any(trials.latest_checkpoint(conn, t.id) is None for t in trials.of_experiment(conn, experiment.id))


def _take_new_hparams(conn: Connection, experiment: Experiment, active: dict[str, Any]) -> None:
    """Write what the one trial of a search trains with from now on; a drawn value stays unless its range changed.

    It also takes the id that the new search draws after them, so that it is the trial the search begins with.
    """
    config, before = ExperimentConfig.load(active), ExperimentConfig.load(experiment.config).hyperparameters
    if before == (after := config.hyperparameters):
        return
    rng = Rng(config.reproducibility.experiment_seed)
    drawn, request_id = sample(after, rng), rng.uuid4()
    for trial in trials.of_experiment(conn, experiment.id)[:1]:
        hparams = carry_over(before, after, trial.hparams, drawn)
        trials.update_row(conn, trial.id, {"hparams": hparams, "request_id": request_id})


def _check_resources(changes: JobValues) -> None:
    max_slots = changes.get("max_slots")
    if "priority" in changes:
        check_priority(changes["priority"])
    if "weight" in changes:
        check_weight(changes["weight"])
    if max_slots is not None and max_slots < 0:
        raise InvalidArgument(f"max_slots={max_slots} must not be negative")


def _leave_pool(conn: Connection, now: datetime, experiment_id: int, pool: str) -> None:
    reason = f"the experiment moves to pool '{pool}'"
    for allocation in allocations.live_of_experiment(conn, experiment_id):
        if allocation.trial_id is None:
            continue
        trial = trials.get(conn, allocation.trial_id)
        if allocation_state.terminate(conn, now, allocation, reason, trial_state.timeout_of(conn, trial)):
            trial_state.allocation_ended(conn, now, trial.id, ExitKind.KILLED)
    search.settle(conn, now, experiment_id)
