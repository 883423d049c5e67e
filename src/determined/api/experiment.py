"""Experiments over HTTP."""

from collections.abc import Iterator, Sequence
from typing import Any

from determined.api.paging import given, pages
from determined.api.session import Sending, Session
from determined.wire.checkpoint import Checkpoint
from determined.wire.codec import plain, to_json
from determined.wire.environment_lock import EnvironmentLock, GetEnvironmentLocksResponse
from determined.wire.experiment import (
    ContinueExperimentResponse,
    CreateExperimentRequest,
    CreateExperimentResponse,
    Experiment,
    GetExperimentCheckpointsResponse,
    GetExperimentResponse,
    GetExperimentsResponse,
    GetExperimentTrialsResponse,
    GetModelDefResponse,
    PatchExperimentResponse,
    PutExperimentResponse,
)
from determined.wire.trial import Trial

_ROOT = "/api/v1/experiments"


def create(
    session: Session, request: CreateExperimentRequest, *, sending: Sending | None = None
) -> CreateExperimentResponse:
    """Submit. `sending` hears of each part of the body as it leaves."""
    if sending is None:
        return session.post_as(_ROOT, request, CreateExperimentResponse)
    return session.send_as(_ROOT, to_json(plain(request)), CreateExperimentResponse, sending)


def put(session: Session, external_id: str, request: CreateExperimentRequest) -> Experiment:
    """Submit once, however often this is called with one `external_id`."""
    return session.put_as(f"{_ROOT}/by-external-id/{external_id}", request, PutExperimentResponse).experiment


def get(session: Session, experiment_id: int) -> Experiment:
    return session.get_as(f"{_ROOT}/{experiment_id}", GetExperimentResponse).experiment


def get_all(session: Session, experiment_id: int) -> GetExperimentResponse:
    return session.get_as(f"{_ROOT}/{experiment_id}", GetExperimentResponse)


def iterate(
    session: Session, *, limit: int = 200, offset: int = 0, all_pages: bool = True, **filters: Any
) -> Iterator[Experiment]:
    """`filters` are the query parameters of the listing (archived, users, states, name, projectId, sortBy, ...)."""

    def fetch(size: int, start: int) -> GetExperimentsResponse:
        return session.get_as(_ROOT, GetExperimentsResponse, params=given(limit=size, offset=start, **filters))

    for page in pages(fetch, limit=limit, offset=offset, all_pages=all_pages):
        yield from page.experiments


def trials(
    session: Session, experiment_id: int, *, limit: int = 200, offset: int = 0, all_pages: bool = True, **filters: Any
) -> Iterator[Trial]:
    def fetch(size: int, start: int) -> GetExperimentTrialsResponse:
        params = given(limit=size, offset=start, **filters)
        return session.get_as(f"{_ROOT}/{experiment_id}/trials", GetExperimentTrialsResponse, params=params)

    for page in pages(fetch, limit=limit, offset=offset, all_pages=all_pages):
        yield from page.trials


def checkpoints(session: Session, experiment_id: int, **filters: Any) -> Iterator[Checkpoint]:
    def fetch(size: int, start: int) -> GetExperimentCheckpointsResponse:
        params = given(limit=size, offset=start, **filters)
        return session.get_as(f"{_ROOT}/{experiment_id}/checkpoints", GetExperimentCheckpointsResponse, params=params)

    for page in pages(fetch):
        yield from page.checkpoints


def act(session: Session, experiment_id: int, verb: str) -> None:
    """activate, pause, cancel, kill, archive, unarchive."""
    session.post(f"{_ROOT}/{experiment_id}/{verb}", {})


def delete(session: Session, experiment_id: int) -> None:
    session.delete(f"{_ROOT}/{experiment_id}")


def patch(session: Session, experiment_id: int, changes: dict[str, Any]) -> Experiment | None:
    body = {"id": experiment_id, **changes}
    return session.patch_as(f"{_ROOT}/{experiment_id}", body, PatchExperimentResponse).experiment


def continue_(session: Session, experiment_id: int, override_config: str) -> ContinueExperimentResponse:
    body = {"id": experiment_id, "overrideConfig": override_config}
    return session.post_as(f"{_ROOT}/continue", body, ContinueExperimentResponse)


def reproduce(session: Session, experiment_id: int, *, activate: bool = True) -> CreateExperimentResponse:
    """A new experiment that runs as this one did: config, code, seeds, packages."""
    return session.post_as(f"{_ROOT}/{experiment_id}/reproduce", {"activate": activate}, CreateExperimentResponse)


def environment_locks(session: Session, experiment_id: int) -> list[EnvironmentLock]:
    """What its requirements were resolved to, by platform."""
    return session.get_as(f"{_ROOT}/{experiment_id}/environment_locks", GetEnvironmentLocksResponse).locks


def move(session: Session, experiment_id: int, project_id: int) -> None:
    body = {"experimentId": experiment_id, "destinationProjectId": project_id}
    session.post(f"{_ROOT}/{experiment_id}/move", body)


def model_definition(session: Session, experiment_id: int) -> str:
    """The submitted files as base64 of a .tar.gz."""
    return session.get_as(f"{_ROOT}/{experiment_id}/model_def", GetModelDefResponse).b64_tgz


def delete_tensorboard_files(session: Session, experiment_id: int) -> None:
    session.delete(f"{_ROOT}/{experiment_id}/tensorboard-files")


def retain_logs(session: Session, experiment_id: int, days: int) -> None:
    session.put(f"{_ROOT}/{experiment_id}/retain_logs", {"experimentId": experiment_id, "numDays": days})


def labels_set(session: Session, experiment_id: int, labels: Sequence[str]) -> None:
    patch(session, experiment_id, {"labels": list(labels)})
