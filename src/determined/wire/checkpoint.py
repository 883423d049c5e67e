"""Checkpoints."""

from enum import StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from determined._json import JsonObject
from determined.wire.base import Ordered
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation, Query
from determined.wire.upstream import UpstreamRequired


class CheckpointState(StrEnum):
    __upstream__ = "checkpointv1State"

    UNSPECIFIED = "STATE_UNSPECIFIED"
    ACTIVE = "STATE_ACTIVE"
    COMPLETED = "STATE_COMPLETED"
    ERROR = "STATE_ERROR"
    DELETED = "STATE_DELETED"
    PARTIALLY_DELETED = "STATE_PARTIALLY_DELETED"


class Metrics(Wire):
    avg_metrics: dict[str, Any]
    batch_metrics: list[dict[str, Any]] | None = None


class CheckpointTrainingMetadata(Wire):
    experiment_config: dict[str, Any] | None = None
    experiment_id: int | None = None
    hparams: dict[str, Any] | None = None
    searcher_metric: float | None = None
    training_metrics: Metrics | None = None
    trial_id: int | None = None
    validation_metrics: Metrics | None = None


class Checkpoint(Wire):
    metadata: dict[str, Any]
    resources: dict[str, str]
    state: CheckpointState
    training: CheckpointTrainingMetadata
    uuid: str
    allocation_id: str | None = None
    report_time: str | None = None
    storage_id: int | None = None
    task_id: str | None = None


class ReportCheckpointRequest(Wire):
    """POST /api/v1/checkpoints: what of a Checkpoint a task reports."""

    uuid: str
    metadata: dict[str, Any]
    resources: Annotated[dict[str, int], msgspec.Meta(max_length=1_000_000)] = {}
    state: CheckpointState = CheckpointState.COMPLETED
    task_id: str | None = None
    allocation_id: str | None = None
    report_time: str | None = None
    storage_id: int | None = None
    training: dict[str, Any] | None = None


class GetCheckpointResponse(Wire):
    checkpoint: Checkpoint


class DeleteCheckpointsRequest(Wire):
    checkpoint_uuids: UpstreamRequired[Annotated[list[str], msgspec.Meta(max_length=2000)]] = []  # one transaction


class CheckpointsRemoveFilesRequest(Wire):
    checkpoint_globs: UpstreamRequired[Annotated[list[str], msgspec.Meta(max_length=500)]] = []
    checkpoint_uuids: UpstreamRequired[Annotated[list[str], msgspec.Meta(max_length=2000)]] = []


class PatchCheckpointOptionalResources(Wire):
    __upstream__ = "PatchCheckpointOptionalResources"

    resources: dict[str, str] | None = None


class PatchCheckpoint(Wire):
    uuid: str
    resources: PatchCheckpointOptionalResources | None = None


class PatchCheckpointsRequest(Wire):
    checkpoints: Annotated[list[PatchCheckpoint], msgspec.Meta(max_length=500)]  # one transaction


class CheckpointMetadata(Wire):
    metadata: dict[str, Any] = {}


class PostCheckpointMetadataRequest(Wire):
    """The client sends the whole checkpoint back; only its metadata is taken."""

    checkpoint: CheckpointMetadata = msgspec.field(default_factory=CheckpointMetadata)


class PostCheckpointMetadataResponse(Wire):
    checkpoint: Checkpoint | None = None


class SortBy(StrEnum):
    __upstream__ = "checkpointv1SortBy"

    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    UUID = "SORT_BY_UUID"
    TRIAL_ID = "SORT_BY_TRIAL_ID"
    BATCH_NUMBER = "SORT_BY_BATCH_NUMBER"
    END_TIME = "SORT_BY_END_TIME"
    STATE = "SORT_BY_STATE"
    SEARCHER_METRIC = "SORT_BY_SEARCHER_METRIC"


class ListCheckpoints(Ordered):
    states: Annotated[list[CheckpointState] | None, Meta(description="Any of these states.")] = None
    sort_by_attr: Annotated[SortBy | None, Meta(description="What to sort by; the trial by default.")] = None
    sort_by_metric: Annotated[str | None, Meta(description="A validation metric to sort by instead.")] = None


KeepCount = Annotated[int, Meta(ge=0)]


class PreviewCheckpointGC(Query, rename=None):
    """Numbers of checkpoints to keep; those of the experiment's config where not given."""

    save_experiment_best: KeepCount | None = None
    save_trial_best: KeepCount | None = None
    save_trial_latest: KeepCount | None = None


DELETE_CHECKPOINTS = Operation("DELETE", "/api/v1/checkpoints", DeleteCheckpointsRequest, Nothing)
PATCH_CHECKPOINTS = Operation("PATCH", "/api/v1/checkpoints", PatchCheckpointsRequest, Nothing)
REPORT_CHECKPOINT = Operation("POST", "/api/v1/checkpoints", ReportCheckpointRequest, Nothing)
REMOVE_CHECKPOINT_FILES = Operation(
    "POST", "/api/v1/checkpoints/rm", CheckpointsRemoveFilesRequest, Nothing, rpc="CheckpointsRemoveFiles"
)
GET_CHECKPOINT = Operation("GET", "/api/v1/checkpoints/{checkpoint_uuid:str}", Nothing, GetCheckpointResponse)
POST_CHECKPOINT_METADATA = Operation(
    "POST",
    "/api/v1/checkpoints/{checkpoint_uuid:str}/metadata",
    PostCheckpointMetadataRequest,
    PostCheckpointMetadataResponse,
    id_names=("checkpoint_uuid",),
)
DOWNLOAD_CHECKPOINT = Operation("GET", "/checkpoints/{checkpoint_uuid:str}", Nothing, bytes, ours=True)
PREVIEW_CHECKPOINT_GC = Operation(
    "GET", "/experiments/{experiment_id:int}/preview_gc", PreviewCheckpointGC, JsonObject, ours=True
)
