"""Trials."""

from enum import StrEnum
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from determined._json import JsonObject
from determined.wire.base import Ordered, Pagination
from determined.wire.checkpoint import Checkpoint, CheckpointState, ListCheckpoints, Metrics
from determined.wire.codec import Wire
from determined.wire.operation import AnyJson, Nothing, Operation
from determined.wire.upstream import Ours, UpstreamRequired


class TrialState(StrEnum):
    __upstream__ = "trialv1State"

    UNSPECIFIED = "STATE_UNSPECIFIED"
    ACTIVE = "STATE_ACTIVE"
    PAUSED = "STATE_PAUSED"
    STOPPING_CANCELED = "STATE_STOPPING_CANCELED"
    STOPPING_KILLED = "STATE_STOPPING_KILLED"
    STOPPING_COMPLETED = "STATE_STOPPING_COMPLETED"
    STOPPING_ERROR = "STATE_STOPPING_ERROR"
    CANCELED = "STATE_CANCELED"
    COMPLETED = "STATE_COMPLETED"
    ERROR = "STATE_ERROR"
    QUEUED = "STATE_QUEUED"
    PULLING = "STATE_PULLING"
    STARTING = "STATE_STARTING"
    RUNNING = "STATE_RUNNING"


class CheckpointWorkload(Wire):
    state: CheckpointState
    total_batches: int
    end_time: str | None = None
    metadata: dict[str, Any] | None = None
    resources: dict[str, str] | None = None
    uuid: str | None = None


class MetricsWorkload(Wire):
    metrics: Metrics
    num_inputs: int
    total_batches: int
    end_time: str | None = None


class Trial(Wire):
    __upstream__ = "trialv1Trial"

    experiment_id: int
    hparams: dict[str, Any]
    id: int
    restarts: int
    start_time: str
    state: TrialState
    total_batches_processed: int
    best_checkpoint: CheckpointWorkload | None = None
    best_validation: MetricsWorkload | None = None
    checkpoint_count: int | None = None
    end_time: str | None = None
    latest_validation: MetricsWorkload | None = None
    log_policy_matched: str | None = None
    log_retention_days: int | None = None
    metadata: dict[str, Any] | None = None
    runner_state: str | None = None
    stop_reason: Ours[str | None] = None  # why the searcher ended it, in a sentence
    searcher_metric_value: float | None = None
    summary_metrics: dict[str, Any] | None = None
    task_id: str | None = None
    task_ids: list[str] | None = None
    total_checkpoint_size: str | None = None
    wall_clock_time: float | None = None
    warm_start_checkpoint_uuid: str | None = None


class GetTrialResponse(Wire):
    trial: Trial


class GetTrialByExternalIDResponse(Wire):
    trial: Trial


class CreateTrialRequest(Wire):
    experiment_id: int | None = None
    hparams: dict[str, Any] | None = None
    unmanaged: bool | None = None


class CreateTrialResponse(Wire):
    trial: Trial


class PutTrialRequest(Wire):
    create_trial_request: CreateTrialRequest | None = None
    external_trial_id: str | None = None


class PutTrialResponse(Wire):
    trial: Trial


class PatchTrialRequest(Wire):
    trial_id: UpstreamRequired[int | None] = None
    state: TrialState | None = None


class PatchTrialResponse(Wire):
    trial: Trial


class StartTrialRequest(Wire):
    trial_id: UpstreamRequired[int | None] = None
    resume: bool | None = None


class StartTrialResponse(Wire):
    steps_completed: int
    trial_run_id: int
    latest_checkpoint: str | None = None


class TrialRunnerMetadata(Wire):
    state: str


class ValidateAfterOperation(Wire):
    length: int


class SearcherOperation(Wire):
    validate_after: ValidateAfterOperation | None = None


class GetCurrentTrialSearcherOperationResponse(Wire):
    """Classic generation: how far to train next. No `op` means there is nothing more to do."""

    completed: bool = False
    op: SearcherOperation | None = None


class CompleteTrialSearcherOperationRequest(Wire):
    op: ValidateAfterOperation | None = None
    searcher_metric: Any = None


class TrialSourceInfoType(StrEnum):
    UNSPECIFIED = "TRIAL_SOURCE_INFO_TYPE_UNSPECIFIED"
    INFERENCE = "TRIAL_SOURCE_INFO_TYPE_INFERENCE"
    FINE_TUNING = "TRIAL_SOURCE_INFO_TYPE_FINE_TUNING"


class TrialSourceInfo(Wire):
    checkpoint_uuid: str
    trial_id: int
    trial_source_info_type: TrialSourceInfoType
    model_id: int | None = None
    model_version: int | None = None


class ReportTrialSourceInfoRequest(Wire):
    trial_source_info: TrialSourceInfo


class ReportTrialSourceInfoResponse(Wire):
    checkpoint_uuid: str
    trial_id: int


class GetTrialWorkloadsRequestFilterOption(StrEnum):
    __upstream__ = "GetTrialWorkloadsRequestFilterOption"

    UNSPECIFIED = "FILTER_OPTION_UNSPECIFIED"
    CHECKPOINT = "FILTER_OPTION_CHECKPOINT"
    VALIDATION = "FILTER_OPTION_VALIDATION"
    CHECKPOINT_OR_VALIDATION = "FILTER_OPTION_CHECKPOINT_OR_VALIDATION"


class MetricType(StrEnum):
    UNSPECIFIED = "METRIC_TYPE_UNSPECIFIED"
    TRAINING = "METRIC_TYPE_TRAINING"
    VALIDATION = "METRIC_TYPE_VALIDATION"
    PROFILING = "METRIC_TYPE_PROFILING"


class WorkloadContainer(Wire):
    checkpoint: CheckpointWorkload | None = None
    training: MetricsWorkload | None = None
    validation: MetricsWorkload | None = None


class GetTrialWorkloadsResponse(Wire):
    pagination: Pagination
    workloads: list[WorkloadContainer]


class GetTrialCheckpointsResponse(Wire):
    checkpoints: list[Checkpoint]
    pagination: Pagination


class PutTrialRetainLogsRequest(Wire):
    num_days: int
    trial_id: int | None = None


class GetTrialRemainingLogRetentionDaysResponse(Wire):
    remaining_days: int | None = None


class DataPoint(Wire):
    """`values` are the last of the bucket the point stands for; `min`, `max` (ours) its extremes where they differ."""

    batches: int
    time: str
    epoch: float | None = None
    values: dict[str, Any] | None = None
    min: Ours[dict[str, Any] | UnsetType] = UNSET
    max: Ours[dict[str, Any] | UnsetType] = UNSET


class TrialsSampleResponseTrial(Wire):
    data: list[DataPoint]
    hparams: dict[str, Any]
    trial_id: int


class TrialsSampleResponse(Wire):
    demoted_trials: list[int]
    promoted_trials: list[int]
    trials: list[TrialsSampleResponseTrial]


class TrialsSnapshotResponseTrial(Wire):
    batches_processed: int
    hparams: dict[str, Any]
    metric: float
    trial_id: int


class TrialsSnapshotResponse(Wire):
    trials: list[TrialsSnapshotResponseTrial]


class ListTrialWorkloads(Ordered):
    """Workloads of a trial, step by step; 100 of them where no limit is given."""

    sort_key: Annotated[str | None, Meta(description="A metric to sort by; batches by default.")] = None
    filter: GetTrialWorkloadsRequestFilterOption | None = None
    metric_type: MetricType | None = None
    group: Annotated[str | None, Meta(description="Group of the training metrics.")] = None
    remove_deleted_checkpoints: bool = False


LIST_TRIAL_CHECKPOINTS = Operation(
    "GET", "/api/v1/trials/{trial_id:int}/checkpoints", ListCheckpoints, GetTrialCheckpointsResponse, id_names=("id",)
)
PATCH_TRIAL = Operation("PATCH", "/api/v1/trials/{trial_id:int}", PatchTrialRequest, PatchTrialResponse)
GET_TRIAL = Operation("GET", "/api/v1/trials/{trial_id:int}", Nothing, GetTrialResponse)
KILL_TRIAL = Operation("POST", "/api/v1/trials/{trial_id:int}/kill", Nothing, Nothing, id_names=("id",))
LIST_TRIAL_WORKLOADS = Operation(
    "GET", "/api/v1/trials/{trial_id:int}/workloads", ListTrialWorkloads, GetTrialWorkloadsResponse
)
POST_RUNNER_METADATA = Operation(
    "POST", "/api/v1/trials/{trial_id:int}/runner/metadata", TrialRunnerMetadata, Nothing, rpc="PostTrialRunnerMetadata"
)
REPORT_PROGRESS = Operation(
    "POST", "/api/v1/trials/{trial_id:int}/progress", AnyJson, Nothing, rpc="ReportTrialProgress"
)
REPORT_EARLY_EXIT = Operation(
    "POST", "/api/v1/trials/{trial_id:int}/early_exit", JsonObject, Nothing, rpc="ReportTrialSearcherEarlyExit"
)
GET_SEARCHER_OPERATION = Operation(
    "GET",
    "/api/v1/trials/{trial_id:int}/searcher/operation",
    Nothing,
    GetCurrentTrialSearcherOperationResponse,
    ours=True,
)
COMPLETE_SEARCHER_OPERATION = Operation(
    "POST",
    "/api/v1/trials/{trial_id:int}/searcher/completed_operation",
    CompleteTrialSearcherOperationRequest,
    Nothing,
    ours=True,
)
RETAIN_TRIAL_LOGS = Operation(
    "PUT", "/api/v1/trials/{trial_id:int}/retain_logs", PutTrialRetainLogsRequest, Nothing, rpc="PutTrialRetainLogs"
)
GET_REMAINING_LOG_DAYS = Operation(
    "GET",
    "/api/v1/trials/{trial_id:int}/remaining_log_retention_days",
    Nothing,
    GetTrialRemainingLogRetentionDaysResponse,
    id_names=("id",),
)
REPORT_TRIAL_SOURCE = Operation(
    "POST", "/api/v1/trial-source-info", ReportTrialSourceInfoRequest, ReportTrialSourceInfoResponse
)
PUT_TRIAL = Operation("PUT", "/api/v1/trials", PutTrialRequest, PutTrialResponse)
CREATE_TRIAL = Operation("POST", "/api/v1/trials", CreateTrialRequest, CreateTrialResponse)
GET_TRIAL_BY_EXTERNAL_ID = Operation(
    "GET",
    "/api/v1/trials/by-external-id/{external_experiment_id:str}/{external_trial_id:str}",
    Nothing,
    GetTrialByExternalIDResponse,
)
START_TRIAL = Operation("POST", "/api/v1/trials/{trial_id:int}/start", StartTrialRequest, StartTrialResponse)
