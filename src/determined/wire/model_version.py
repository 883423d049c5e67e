"""Versions of registered models: a number and a checkpoint each; who used them, and their files.

`{version}` of a path is a number, an alias (model_alias.py), or `latest`: the highest number that is there.
"""

from enum import StrEnum
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from determined.wire.base import LongText, Ordered, Pagination
from determined.wire.checkpoint import Checkpoint
from determined.wire.codec import Wire
from determined.wire.metric import GetCheckpointMetrics, MetricsReport
from determined.wire.model import Labels, Model
from determined.wire.operation import Nothing, Operation, Query
from determined.wire.trial import TrialSourceInfoType
from determined.wire.upstream import Ours, UpstreamRequired

_IDS = ("modelName", "modelVersionNum")
LATEST = "latest"  # in the place of a version's number or alias


class ModelVersion(Wire):
    """A version. `aliases`: the names that point to it now."""

    checkpoint: Checkpoint
    creation_time: str
    id: int
    last_updated_time: str
    model: Model
    version: int
    comment: str | None = None
    labels: list[str] | None = None
    metadata: dict[str, Any] | None = None
    name: str | None = None
    notes: str | None = None
    user_id: int | None = None
    username: str | None = None
    aliases: Ours[list[str] | None] = None


class GetModelVersionResponse(Wire):
    model_version: ModelVersion


class GetModelVersionsRequestSortBy(StrEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    VERSION = "SORT_BY_VERSION"
    CREATION_TIME = "SORT_BY_CREATION_TIME"


class GetModelVersionsResponse(Wire):
    model: Model
    model_versions: list[ModelVersion]
    pagination: Pagination


class PostModelVersionRequest(Wire):
    """The model in the path counts; `model_name` is sent by the official client."""

    checkpoint_uuid: str
    comment: LongText | None = None
    labels: Labels | None = None
    metadata: dict[str, Any] | None = None
    model_name: UpstreamRequired[str | None] = None
    name: str | None = None
    notes: LongText | None = None


class PostModelVersionResponse(Wire):
    model_version: ModelVersion


class PatchModelVersion(Wire):
    """An absent field stays, a null too; `metadata` and `labels` are replaced whole; the checkpoint stays.

    `expected_notes`: the notes as their author saw them; with others stored the request is a conflict.
    """

    checkpoint: Checkpoint | UnsetType | None = UNSET
    comment: LongText | UnsetType | None = UNSET
    labels: Labels | UnsetType | None = UNSET
    metadata: dict[str, Any] | UnsetType | None = UNSET
    name: str | UnsetType | None = UNSET
    notes: LongText | UnsetType | None = UNSET
    expected_notes: Ours[LongText | UnsetType | None] = UNSET


class PatchModelVersionResponse(Wire):
    model_version: ModelVersion


class ListModelVersions(Ordered):
    sort_by: Annotated[
        GetModelVersionsRequestSortBy | None, Meta(description="What to sort by; the number by default.")
    ] = None


class GetTrialMetricsByModelVersionResponse(Wire):
    metrics: list[MetricsReport]


class ListTrialsUsing(Query):
    """Ours."""

    trial_source_info_type: Annotated[
        TrialSourceInfoType | None, Meta(description="Only inference, or only fine-tuning; both by default.")
    ] = None


class TrialUsing(Wire):
    """A trial that said that it works with a checkpoint; `model_id` and `model_version` where it named a version."""

    trial_id: int
    experiment_id: int
    experiment_name: str
    state: str  # of the trial: STATE_COMPLETED
    user_id: int
    username: str
    start_time: str
    trial_source_info_type: TrialSourceInfoType
    checkpoint_uuid: str
    model_id: int | None = None
    model_version: int | None = None


class TrialsUsingResponse(Wire):
    trials: list[TrialUsing]


class CheckpointVersionsResponse(Wire):
    """Versions that a checkpoint is registered as, in all models."""

    model_versions: list[ModelVersion]


class ModelFile(Wire):
    """A file of a version. `hash`: as the manifest has it (storage/copying.py); none for an old checkpoint."""

    path: str
    size: int
    hash: str | None = None


class ModelFilesResponse(Wire):
    """Files of a version, by path. `version` is the number, also where an alias was asked for: download by it."""

    model_name: str
    version: int
    checkpoint_uuid: str
    files: list[ModelFile]


LIST_MODEL_VERSIONS = Operation(
    "GET", "/api/v1/models/{model_name:str}/versions", ListModelVersions, GetModelVersionsResponse
)
REGISTER_MODEL_VERSION = Operation(
    "POST", "/api/v1/models/{model_name:str}/versions", PostModelVersionRequest, PostModelVersionResponse
)
GET_MODEL_VERSION = Operation(
    "GET", "/api/v1/models/{model_name:str}/versions/{version:str}", Nothing, GetModelVersionResponse, id_names=_IDS
)
PATCH_MODEL_VERSION = Operation(
    "PATCH",
    "/api/v1/models/{model_name:str}/versions/{version:str}",
    PatchModelVersion,
    PatchModelVersionResponse,
    id_names=_IDS,
)
DELETE_MODEL_VERSION = Operation(
    "DELETE", "/api/v1/models/{model_name:str}/versions/{version:str}", Nothing, Nothing, id_names=_IDS
)
GET_MODEL_VERSION_METRICS = Operation(
    "GET",
    "/api/v1/models/{model_name:str}/versions/{version:str}/metrics",
    GetCheckpointMetrics,
    GetTrialMetricsByModelVersionResponse,
    id_names=_IDS,
)
LIST_TRIALS_USING_VERSION = Operation(
    "GET",
    "/api/v1/models/{model_name:str}/versions/{version:str}/trials",
    ListTrialsUsing,
    TrialsUsingResponse,
    ours=True,
)
LIST_TRIALS_USING_CHECKPOINT = Operation(
    "GET", "/api/v1/checkpoints/{checkpoint_uuid:str}/trials", ListTrialsUsing, TrialsUsingResponse, ours=True
)
LIST_CHECKPOINT_VERSIONS = Operation(
    "GET", "/api/v1/checkpoints/{checkpoint_uuid:str}/model-versions", Nothing, CheckpointVersionsResponse, ours=True
)
LIST_MODEL_VERSION_FILES = Operation(
    "GET", "/api/v1/models/{model_name:str}/versions/{version:str}/files", Nothing, ModelFilesResponse, ours=True
)
# The bytes of one file; a Range header takes a part of it, If-Range with the ETag only of the same file.
DOWNLOAD_MODEL_VERSION_FILE = Operation(
    "GET", "/api/v1/models/{model_name:str}/versions/{version:str}/files/{file_path:path}", Nothing, bytes, ours=True
)
# All files as zip, tar or (else) tgz, as Accept says.
DOWNLOAD_MODEL_VERSION = Operation(
    "GET", "/api/v1/models/{model_name:str}/versions/{version:str}/archive", Nothing, bytes, ours=True
)
