"""Checkpoints over HTTP."""

from typing import Any

from determined.api.paging import given
from determined.api.session import Session
from determined.wire.checkpoint import Checkpoint, GetCheckpointResponse
from determined.wire.metric import GetTrialMetricsByCheckpointResponse, MetricsReport

_ROOT = "/api/v1/checkpoints"


def get(session: Session, uuid: str) -> Checkpoint:
    return session.get_as(f"{_ROOT}/{uuid}", GetCheckpointResponse).checkpoint


def metrics(session: Session, uuid: str, group: str | None = None) -> list[MetricsReport]:
    path = f"{_ROOT}/{uuid}/metrics"
    return session.get_as(path, GetTrialMetricsByCheckpointResponse, params=given(metricGroup=group)).metrics


def delete(session: Session, uuids: list[str]) -> None:
    session.delete(_ROOT, {"checkpointUuids": uuids})


def remove_files(session: Session, uuids: list[str], globs: list[str]) -> None:
    session.post(f"{_ROOT}/rm", {"checkpointUuids": uuids, "checkpointGlobs": globs})


def set_metadata(session: Session, uuid: str, metadata: dict[str, Any]) -> None:
    session.post(f"{_ROOT}/{uuid}/metadata", {"checkpoint": {"uuid": uuid, "metadata": metadata, "resources": {}}})
