"""Registration of an unmanaged trial with its master: the experiment, the trial, its start."""

import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from determined._info import UNMANAGED, ClusterInfo, RendezvousInfo, TrialInfo
from determined._json import JsonObject
from determined.api.session import Session
from determined.core.detached.experiment import ExperimentRequest
from determined.errors import DeterminedError
from determined.schema.text import dump_yaml
from determined.wire.experiment import CREATE_EXPERIMENT, PUT_EXPERIMENT, CreateExperimentRequest, Experiment
from determined.wire.master import GET_MASTER
from determined.wire.trial import (
    CREATE_TRIAL,
    PATCH_TRIAL,
    PUT_TRIAL,
    START_TRIAL,
    CreateTrialRequest,
    PatchTrialRequest,
    PutTrialRequest,
    StartTrialRequest,
    Trial,
    TrialState,
)

logger = logging.getLogger("determined.core")


@dataclass(frozen=True, slots=True)
class Registered:
    """A trial that has begun. Plain data: it travels from the chief to its peers."""

    cluster_id: str
    experiment_id: int
    trial_id: int
    task_id: str
    run_id: int
    steps_completed: int
    latest_checkpoint: str | None
    hparams: JsonObject
    config: JsonObject


def register(session: Session, request: ExperimentRequest, config: JsonObject) -> Registered:
    """Make the experiment and the trial, or find them by their external ids, and start the trial.

    Raises:
        DeterminedError: what the master says, e.g. Forbidden for another user's experiment.
    """
    experiment_id = register_experiment(session, request, config)
    return start(session, register_trial(session, request, experiment_id), config)


def start(session: Session, trial: Trial, config: JsonObject) -> Registered:
    """Start a trial, or take it up again from its latest checkpoint."""
    started = session.call(START_TRIAL, StartTrialRequest(trial_id=trial.id, resume=True), trial_id=trial.id)
    return Registered(
        cluster_id=session.call(GET_MASTER).cluster_id,
        experiment_id=trial.experiment_id,
        trial_id=trial.id,
        task_id=trial.task_id or "",
        run_id=started.trial_run_id,
        steps_completed=started.steps_completed,
        latest_checkpoint=started.latest_checkpoint,
        hparams=trial.hparams,
        config=config,
    )


def fail(session: Session, trial_id: int) -> None:
    """Set a trial to ERROR that has been started and cannot go on: the master would wait 5 minutes for a sign of it."""
    request = PatchTrialRequest(trial_id=trial_id, state=TrialState("STATE_ERROR"))
    with contextlib.suppress(DeterminedError):  # the reason why it cannot go on is what matters
        session.call(PATCH_TRIAL, request, trial_id=trial_id)


def cluster_info(session: Session, registered: Registered) -> ClusterInfo:
    """Return what `get_cluster_info()` would say of it in a task."""
    trial = TrialInfo(
        trial_id=registered.trial_id,
        experiment_id=registered.experiment_id,
        trial_seed=0,
        hparams=registered.hparams,
        config=registered.config,
        steps_completed=registered.steps_completed,
        trial_run_id=registered.run_id,
    )
    return ClusterInfo(
        master_url=session.master_url,
        cluster_id=registered.cluster_id,
        agent_id=UNMANAGED,
        slot_ids=[],
        task_id=registered.task_id,
        allocation_id="",
        session_token=session.token or "",
        task_type="TRIAL",
        latest_checkpoint=registered.latest_checkpoint,
        trial_info=trial,
        rendezvous_info=RendezvousInfo(["127.0.0.1"], 0, [0]),
    )


def register_experiment(session: Session, request: ExperimentRequest, config: JsonObject) -> int:
    """Make the experiment, or find it by its external id, and return its id."""
    body = CreateExperimentRequest(config=dump_yaml(config), unmanaged=True)
    if request.external_experiment_id:
        put = session.call(PUT_EXPERIMENT, body, external_id=request.external_experiment_id)
        return _made(put.experiment, put.messages)
    made = session.call(CREATE_EXPERIMENT, body)
    return _made(made.experiment, made.messages)


def _made(experiment: Experiment, messages: Sequence[str]) -> int:
    for message in messages:
        logger.warning("%s", message)
    return experiment.id


def register_trial(session: Session, request: ExperimentRequest, experiment_id: int) -> Trial:
    """Make the trial, or find it by its external id."""
    body = CreateTrialRequest(experiment_id=experiment_id, hparams=request.hparams or {}, unmanaged=True)
    if request.external_trial_id:
        put = PutTrialRequest(create_trial_request=body, external_trial_id=request.external_trial_id)
        return session.call(PUT_TRIAL, put).trial
    return session.call(CREATE_TRIAL, body).trial
