"""Experiments over HTTP."""

from collections.abc import Iterator, Sequence

from determined.api.paging import pages
from determined.api.session import Sending, Session
from determined.wire import experiment_bulk as verbs
from determined.wire.checkpoint import Checkpoint, ListCheckpoints
from determined.wire.environment_lock import LIST_ENVIRONMENT_LOCKS, EnvironmentLock
from determined.wire.experiment import (
    CONTINUE_EXPERIMENT,
    CREATE_EXPERIMENT,
    DELETE_EXPERIMENT,
    DELETE_TENSORBOARD_FILES,
    GET_EXPERIMENT,
    LIST_EXPERIMENT_CHECKPOINTS,
    LIST_EXPERIMENTS,
    LIST_TRIALS,
    MOVE_EXPERIMENT,
    PATCH_EXPERIMENT,
    PUT_EXPERIMENT,
    REPRODUCE_EXPERIMENT,
    RETAIN_EXPERIMENT_LOGS,
    ContinueExperimentRequest,
    ContinueExperimentResponse,
    CreateExperimentRequest,
    CreateExperimentResponse,
    Experiment,
    GetExperimentResponse,
    ListExperiments,
    ListTrials,
    MoveExperimentRequest,
    PatchExperiment,
    PutExperimentRetainLogsRequest,
    ReproduceExperimentRequest,
)
from determined.wire.model_definition import GET_MODEL_DEFINITION
from determined.wire.trial import Trial

_VERBS = {
    "activate": verbs.ACTIVATE_EXPERIMENT,
    "pause": verbs.PAUSE_EXPERIMENT,
    "cancel": verbs.CANCEL_EXPERIMENT,
    "kill": verbs.KILL_EXPERIMENT,
    "archive": verbs.ARCHIVE_EXPERIMENT,
    "unarchive": verbs.UNARCHIVE_EXPERIMENT,
}


def create(
    session: Session, request: CreateExperimentRequest, *, sending: Sending | None = None
) -> CreateExperimentResponse:
    """Submit. `sending` hears of each part of the body as it leaves."""
    if sending is None:
        return session.call(CREATE_EXPERIMENT, request)
    return session.send(CREATE_EXPERIMENT, request, sending)


def put(session: Session, external_id: str, request: CreateExperimentRequest) -> Experiment:
    """Submit once, however often this is called with one `external_id`."""
    return session.call(PUT_EXPERIMENT, request, external_id=external_id).experiment


def get(session: Session, experiment_id: int) -> Experiment:
    return get_all(session, experiment_id).experiment


def get_all(session: Session, experiment_id: int) -> GetExperimentResponse:
    return session.call(GET_EXPERIMENT, experiment_id=experiment_id)


def iterate(session: Session, params: ListExperiments, *, all_pages: bool = True) -> Iterator[Experiment]:
    for page in pages(session, LIST_EXPERIMENTS, params, all_pages=all_pages):
        yield from page.experiments


def trials(
    session: Session, experiment_id: int, params: ListTrials | None = None, *, all_pages: bool = True
) -> Iterator[Trial]:
    params = params or ListTrials()
    for page in pages(session, LIST_TRIALS, params, all_pages=all_pages, experiment_id=experiment_id):
        yield from page.trials


def checkpoints(session: Session, experiment_id: int, params: ListCheckpoints | None = None) -> Iterator[Checkpoint]:
    params = params or ListCheckpoints()
    for page in pages(session, LIST_EXPERIMENT_CHECKPOINTS, params, experiment_id=experiment_id):
        yield from page.checkpoints


def act(session: Session, experiment_id: int, verb: str) -> None:
    """Activate, pause, cancel, kill, archive or unarchive."""
    session.call(_VERBS[verb], experiment_id=experiment_id)


def delete(session: Session, experiment_id: int) -> None:
    session.call(DELETE_EXPERIMENT, experiment_id=experiment_id)


def patch(session: Session, experiment_id: int, changes: PatchExperiment) -> Experiment | None:
    changes.id = experiment_id
    return session.call(PATCH_EXPERIMENT, changes, experiment_id=experiment_id).experiment


def continue_(session: Session, experiment_id: int, override_config: str) -> ContinueExperimentResponse:
    request = ContinueExperimentRequest(id=experiment_id, override_config=override_config)
    return session.call(CONTINUE_EXPERIMENT, request)


def reproduce(session: Session, experiment_id: int, *, activate: bool = True) -> CreateExperimentResponse:
    """Submit a new experiment that runs as this one did: config, code, seeds, packages."""
    request = ReproduceExperimentRequest(activate=activate)
    return session.call(REPRODUCE_EXPERIMENT, request, experiment_id=experiment_id)


def environment_locks(session: Session, experiment_id: int) -> list[EnvironmentLock]:
    """List what its requirements were resolved to, by platform."""
    return session.call(LIST_ENVIRONMENT_LOCKS, experiment_id=experiment_id).locks


def move(session: Session, experiment_id: int, project_id: int) -> None:
    request = MoveExperimentRequest(experiment_id=experiment_id, destination_project_id=project_id)
    session.call(MOVE_EXPERIMENT, request, experiment_id=experiment_id)


def model_definition(session: Session, experiment_id: int) -> str:
    """Read the submitted files, as base64 of a .tar.gz."""
    return session.call(GET_MODEL_DEFINITION, experiment_id=experiment_id).b64_tgz


def delete_tensorboard_files(session: Session, experiment_id: int) -> None:
    session.call(DELETE_TENSORBOARD_FILES, experiment_id=experiment_id)


def retain_logs(session: Session, experiment_id: int, days: int) -> None:
    request = PutExperimentRetainLogsRequest(experiment_id=experiment_id, num_days=days)
    session.call(RETAIN_EXPERIMENT_LOGS, request, experiment_id=experiment_id)


def labels_set(session: Session, experiment_id: int, labels: Sequence[str]) -> None:
    patch(session, experiment_id, PatchExperiment(labels=list(labels)))
