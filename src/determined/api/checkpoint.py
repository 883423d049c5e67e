"""Checkpoints over HTTP."""

from determined._json import JsonObject
from determined.api.session import Session
from determined.wire.checkpoint import (
    DELETE_CHECKPOINTS,
    GET_CHECKPOINT,
    POST_CHECKPOINT_METADATA,
    REMOVE_CHECKPOINT_FILES,
    Checkpoint,
    CheckpointMetadata,
    CheckpointsRemoveFilesRequest,
    DeleteCheckpointsRequest,
    PostCheckpointMetadataRequest,
)
from determined.wire.metric import GET_CHECKPOINT_METRICS, GetCheckpointMetrics, MetricsReport
from determined.wire.trial import TrialSourceInfoType


def get(session: Session, uuid: str) -> Checkpoint:
    return session.call(GET_CHECKPOINT, checkpoint_uuid=uuid).checkpoint


def metrics(session: Session, uuid: str, group: str | None = None) -> list[MetricsReport]:
    """List the metrics of the trials that run inference with the checkpoint."""
    params = GetCheckpointMetrics(trial_source_info_type=TrialSourceInfoType.INFERENCE, metric_group=group or None)
    return session.call(GET_CHECKPOINT_METRICS, params, checkpoint_uuid=uuid).metrics


def delete(session: Session, uuids: list[str]) -> None:
    session.call(DELETE_CHECKPOINTS, DeleteCheckpointsRequest(checkpoint_uuids=uuids))


def remove_files(session: Session, uuids: list[str], globs: list[str]) -> None:
    request = CheckpointsRemoveFilesRequest(checkpoint_uuids=uuids, checkpoint_globs=globs)
    session.call(REMOVE_CHECKPOINT_FILES, request)


def set_metadata(session: Session, uuid: str, metadata: JsonObject) -> None:
    request = PostCheckpointMetadataRequest(checkpoint=CheckpointMetadata(metadata=metadata))
    session.call(POST_CHECKPOINT_METADATA, request, checkpoint_uuid=uuid)
