"""Versions of registered models over HTTP. A version is a number, an alias, or `latest`."""

from collections.abc import Iterator

import urllib3

from determined.api.paging import pages
from determined.api.session import Session
from determined.wire.metric import GetCheckpointMetrics, MetricsReport
from determined.wire.model_version import (
    DELETE_MODEL_VERSION,
    DOWNLOAD_MODEL_VERSION_FILE,
    GET_MODEL_VERSION,
    GET_MODEL_VERSION_METRICS,
    LIST_MODEL_VERSION_FILES,
    LIST_MODEL_VERSIONS,
    PATCH_MODEL_VERSION,
    REGISTER_MODEL_VERSION,
    ListModelVersions,
    ModelFilesResponse,
    ModelVersion,
    PatchModelVersion,
    PostModelVersionRequest,
)
from determined.wire.operation import Nothing
from determined.wire.trial import TrialSourceInfoType


def get(session: Session, model: str | int, version: str | int) -> ModelVersion:
    return session.call(GET_MODEL_VERSION, model_name=model, version=version).model_version


def iterate(
    session: Session, model: str | int, params: ListModelVersions, *, all_pages: bool = True
) -> Iterator[ModelVersion]:
    for page in pages(session, LIST_MODEL_VERSIONS, params, all_pages=all_pages, model_name=model):
        yield from page.model_versions


def register(session: Session, model: str | int, request: PostModelVersionRequest) -> ModelVersion:
    return session.call(REGISTER_MODEL_VERSION, request, model_name=model).model_version


def patch(session: Session, model: str | int, version: int, changes: PatchModelVersion) -> ModelVersion:
    return session.call(PATCH_MODEL_VERSION, changes, model_name=model, version=version).model_version


def delete(session: Session, model: str | int, version: int) -> None:
    session.call(DELETE_MODEL_VERSION, model_name=model, version=version)


def metrics(session: Session, model: str | int, version: int, group: str | None = None) -> list[MetricsReport]:
    """List the metrics of the trials that run inference with the version."""
    params = GetCheckpointMetrics(trial_source_info_type=TrialSourceInfoType.INFERENCE, metric_group=group or None)
    return session.call(GET_MODEL_VERSION_METRICS, params, model_name=model, version=version).metrics


def files(session: Session, model: str | int, version: str | int) -> ModelFilesResponse:
    return session.call(LIST_MODEL_VERSION_FILES, model_name=model, version=version)


def read_file(
    session: Session, model: str | int, version: int, path: str, headers: dict[str, str]
) -> urllib3.BaseHTTPResponse:
    """Open one file of a version; its bytes are not read yet. `headers`: Range and If-Range."""
    where: dict[str, str | int] = {"model_name": model, "version": version, "file_path": path}
    return session.download(DOWNLOAD_MODEL_VERSION_FILE, Nothing(), headers=headers, stream=True, **where)
