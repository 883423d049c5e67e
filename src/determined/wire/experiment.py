"""Experiments."""

from enum import StrEnum
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType, field

from determined.wire.base import (
    ConfigText,
    FileText,
    LaunchWarning,
    LongText,
    Ordered,
    Pagination,
)
from determined.wire.checkpoint import Checkpoint, ListCheckpoints
from determined.wire.codec import Wire
from determined.wire.job import JobSummary
from determined.wire.operation import Nothing, Operation, Query
from determined.wire.trial import Trial, TrialState
from determined.wire.upstream import Ours, UpstreamRequired


class ExperimentState(StrEnum):
    __upstream__ = "experimentv1State"

    UNSPECIFIED = "STATE_UNSPECIFIED"
    ACTIVE = "STATE_ACTIVE"
    PAUSED = "STATE_PAUSED"
    STOPPING_COMPLETED = "STATE_STOPPING_COMPLETED"
    STOPPING_CANCELED = "STATE_STOPPING_CANCELED"
    STOPPING_ERROR = "STATE_STOPPING_ERROR"
    COMPLETED = "STATE_COMPLETED"
    CANCELED = "STATE_CANCELED"
    ERROR = "STATE_ERROR"
    DELETED = "STATE_DELETED"
    DELETING = "STATE_DELETING"
    DELETE_FAILED = "STATE_DELETE_FAILED"
    STOPPING_KILLED = "STATE_STOPPING_KILLED"
    QUEUED = "STATE_QUEUED"
    PULLING = "STATE_PULLING"
    STARTING = "STATE_STARTING"
    RUNNING = "STATE_RUNNING"


class Experiment(Wire):
    archived: bool
    config: dict[str, Any]
    id: int
    job_id: str
    name: str
    num_trials: int
    original_config: str
    project_id: int
    project_owner_id: int
    searcher_type: str
    start_time: str
    state: ExperimentState
    username: str
    best_trial_id: int | None = None
    best_trial_searcher_metric: float | None = None
    checkpoint_count: int | None = None
    checkpoint_size: str | None = None
    description: str | None = None
    display_name: str | None = None
    duration: int | None = None
    end_time: str | None = None
    error: Ours[str | None] = None  # why it is in ERROR, where there is a reason beyond its trials'
    external_experiment_id: str | None = None
    external_trial_id: str | None = None
    forked_from: int | None = None
    hyperparameters: dict[str, Any] | None = None
    labels: list[str] | None = None
    model_definition_size: int | None = None
    notes: str | None = None
    pachyderm_integration: dict[str, Any] | None = None
    parent_archived: bool | None = None
    progress: float | None = None
    project_name: str | None = None
    resource_pool: str | None = None
    searcher_metric: str | None = None
    template: Ours[str | None] = None  # name of the template that its config was laid over
    trial_ids: list[int] | None = None
    unmanaged: bool | None = None
    user_id: int | None = None
    workspace_id: int | None = None
    workspace_name: str | None = None


class GetExperimentResponse(Wire):
    experiment: Experiment
    config: dict[str, Any] | None = None
    job_summary: JobSummary | None = None


class GetExperimentsRequestSortBy(StrEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    ID = "SORT_BY_ID"
    DESCRIPTION = "SORT_BY_DESCRIPTION"
    START_TIME = "SORT_BY_START_TIME"
    END_TIME = "SORT_BY_END_TIME"
    STATE = "SORT_BY_STATE"
    NUM_TRIALS = "SORT_BY_NUM_TRIALS"
    PROGRESS = "SORT_BY_PROGRESS"
    USER = "SORT_BY_USER"
    NAME = "SORT_BY_NAME"
    FORKED_FROM = "SORT_BY_FORKED_FROM"
    RESOURCE_POOL = "SORT_BY_RESOURCE_POOL"
    PROJECT_ID = "SORT_BY_PROJECT_ID"
    CHECKPOINT_SIZE = "SORT_BY_CHECKPOINT_SIZE"
    CHECKPOINT_COUNT = "SORT_BY_CHECKPOINT_COUNT"
    SEARCHER_METRIC_VAL = "SORT_BY_SEARCHER_METRIC_VAL"


class GetExperimentsResponse(Wire):
    experiments: list[Experiment]
    pagination: Pagination


class File(Wire):
    content: FileText
    gid: int
    mode: int
    mtime: str | int  # some clients of upstream's send a number
    path: str
    type: int
    uid: int


class CreateExperimentRequest(Wire):
    activate: bool | None = None
    config: ConfigText | None = None
    model_definition: Annotated[list[File], Meta(max_length=100_000)] | None = None
    parent_id: int | None = None
    project_id: int | None = None
    submitter_python: Ours[str | None] = None  # interpreter of the submitter's environment, for the local engine
    template: str | None = None
    unmanaged: bool | None = None
    validate_only: bool | None = None


class CreateExperimentResponse(Wire):
    config: dict[str, Any]
    experiment: Experiment
    messages: Ours[list[str]] = []  # what the submitter should know, as text
    warnings: list[LaunchWarning] | None = None


class ReproduceExperimentRequest(Wire):
    activate: bool | None = None  # absent: yes


class PutExperimentResponse(Wire):
    config: dict[str, Any]
    experiment: Experiment
    messages: Ours[list[str]] = []  # what whoever makes it should know; empty when it was there before


class PatchExperimentPatchCheckpointStorage(Wire):
    __upstream__ = "PatchExperimentPatchCheckpointStorage"

    save_experiment_best: int | None = None
    save_trial_best: int | None = None
    save_trial_latest: int | None = None


class PatchExperimentPatchResources(Wire):
    """Absent keeps a value; null clears `max_slots`."""

    __upstream__ = "PatchExperimentPatchResources"

    max_slots: int | UnsetType | None = UNSET
    priority: int | UnsetType | None = UNSET
    weight: float | UnsetType | None = UNSET


class PatchExperiment(Wire):
    """Absent keeps a value; null clears it. `expected...`: ours; what the author saw, refused when it has changed."""

    id: UpstreamRequired[int | None] = None
    checkpoint_storage: PatchExperimentPatchCheckpointStorage | None = None
    description: str | UnsetType | None = UNSET
    labels: list[str] | UnsetType | None = UNSET
    name: str | UnsetType | None = UNSET
    notes: LongText | UnsetType | None = UNSET
    expected_description: Ours[str | None] = None
    expected_notes: Ours[LongText | None] = None
    resources: PatchExperimentPatchResources | None = None


class PatchExperimentResponse(Wire):
    experiment: Experiment | None = None


class ContinueExperimentRequest(Wire):
    id: int
    override_config: ConfigText | None = None


class ContinueExperimentResponse(Wire):
    experiment: Experiment
    messages: Ours[list[str]] = []  # what whoever continues it should know, as text
    warnings: list[LaunchWarning] | None = None


class MoveExperimentRequest(Wire):
    destination_project_id: int
    experiment_id: UpstreamRequired[int | None] = None


class GetExperimentCheckpointsResponse(Wire):
    checkpoints: list[Checkpoint]
    pagination: Pagination


class GetExperimentLabelsResponse(Wire):
    labels: list[str] | None = None


class GetExperimentTrialsRequestSortBy(StrEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    ID = "SORT_BY_ID"
    START_TIME = "SORT_BY_START_TIME"
    END_TIME = "SORT_BY_END_TIME"
    STATE = "SORT_BY_STATE"
    BEST_VALIDATION_METRIC = "SORT_BY_BEST_VALIDATION_METRIC"
    LATEST_VALIDATION_METRIC = "SORT_BY_LATEST_VALIDATION_METRIC"
    BATCHES_PROCESSED = "SORT_BY_BATCHES_PROCESSED"
    DURATION = "SORT_BY_DURATION"
    RESTARTS = "SORT_BY_RESTARTS"
    CHECKPOINT_SIZE = "SORT_BY_CHECKPOINT_SIZE"
    LOG_RETENTION_DAYS = "SORT_BY_LOG_RETENTION_DAYS"


class GetExperimentTrialsResponse(Wire):
    pagination: Pagination
    trials: list[Trial]


class ValidationHistoryEntry(Wire):
    end_time: str
    searcher_metric: float
    trial_id: int


class GetExperimentValidationHistoryResponse(Wire):
    validation_history: list[ValidationHistoryEntry] | None = None


class GetBestSearcherValidationMetricResponse(Wire):
    metric: float | None = None


class PutExperimentLabelResponse(Wire):
    labels: list[str]


class DeleteExperimentLabelResponse(Wire):
    labels: list[str]


class PutExperimentRetainLogsRequest(Wire):
    num_days: int
    experiment_id: UpstreamRequired[int | None] = None


class SearchExperimentsRequest(Wire):
    filter: LongText | None = None
    limit: int | None = None
    offset: int | None = None
    project_id: int | None = None
    sort: str | None = None


class SearchExperimentExperiment(Wire):
    experiment: Experiment
    best_trial: Trial | None = None


class SearchExperimentsResponse(Wire):
    experiments: list[SearchExperimentExperiment]
    pagination: Pagination


class ListExperiments(Ordered):
    """Experiments that fit every condition given."""

    archived: Annotated[bool | None, Meta(description="Only archived ones, or only others; both by default.")] = None
    description: Annotated[str | None, Meta(description="Part of the description, whatever the case.")] = None
    name: Annotated[str | None, Meta(description="Part of the name, whatever the case.")] = None
    labels: Annotated[list[str] | None, Meta(description="All of these labels.")] = None
    project_id: Annotated[int | None, Meta(description="Of this project; 0: of any.")] = None
    states: Annotated[list[ExperimentState] | None, Meta(description="Any of these states, as they are shown.")] = None
    users: Annotated[list[str] | None, Meta(description="Owned by any of these, by name.")] = None
    user_ids: Annotated[list[int] | None, Meta(description="Owned by any of these, by id.")] = None
    ids: Annotated[list[int] | None, Meta(description="Any of these ids.")] = field(
        name="experimentIdFilter.incl", default=None
    )
    not_ids: Annotated[list[int] | None, Meta(description="None of these ids.")] = field(
        name="experimentIdFilter.notIn", default=None
    )
    id_gt: int | None = field(name="experimentIdFilter.gt", default=None)
    id_gte: int | None = field(name="experimentIdFilter.gte", default=None)
    id_lt: int | None = field(name="experimentIdFilter.lt", default=None)
    id_lte: int | None = field(name="experimentIdFilter.lte", default=None)
    sort_by: Annotated[GetExperimentsRequestSortBy | None, Meta(description="What to sort by; the id by default.")] = (
        None
    )
    show_trial_data: Annotated[bool, Meta(description="Also the best trial of each.")] = False


class ListExperimentLabels(Query):
    project_id: Annotated[int | None, Meta(description="Only labels of this project.")] = None


class ListTrials(Ordered):
    """Trials of one experiment."""

    states: Annotated[list[TrialState] | None, Meta(description="Any of these states, as they are shown.")] = None
    sort_by: Annotated[
        GetExperimentTrialsRequestSortBy | None, Meta(description="What to sort by; the id by default.")
    ] = None


LIST_EXPERIMENT_CHECKPOINTS = Operation(
    "GET",
    "/api/v1/experiments/{experiment_id:int}/checkpoints",
    ListCheckpoints,
    GetExperimentCheckpointsResponse,
    id_names=("id",),
)
LIST_EXPERIMENTS = Operation("GET", "/api/v1/experiments", ListExperiments, GetExperimentsResponse)
CREATE_EXPERIMENT = Operation("POST", "/api/v1/experiments", CreateExperimentRequest, CreateExperimentResponse)
PUT_EXPERIMENT = Operation(
    "PUT",
    "/api/v1/experiments/by-external-id/{external_id:str}",
    CreateExperimentRequest,
    PutExperimentResponse,
    id_names=("externalExperimentId",),
)
CONTINUE_EXPERIMENT = Operation(
    "POST", "/api/v1/experiments/continue", ContinueExperimentRequest, ContinueExperimentResponse
)
SEARCH_EXPERIMENTS = Operation(
    "POST", "/api/v1/experiments-search", SearchExperimentsRequest, SearchExperimentsResponse
)
LIST_EXPERIMENT_LABELS = Operation(
    "GET", "/api/v1/experiment/labels", ListExperimentLabels, GetExperimentLabelsResponse
)
DELETE_EXPERIMENT = Operation("DELETE", "/api/v1/experiments/{experiment_id:int}", Nothing, Nothing)
GET_EXPERIMENT = Operation("GET", "/api/v1/experiments/{experiment_id:int}", Nothing, GetExperimentResponse)
PATCH_EXPERIMENT = Operation(
    "PATCH",
    "/api/v1/experiments/{experiment_id:int}",
    PatchExperiment,
    PatchExperimentResponse,
    id_names=("experiment_id",),
)
MOVE_EXPERIMENT = Operation("POST", "/api/v1/experiments/{experiment_id:int}/move", MoveExperimentRequest, Nothing)
REMOVE_EXPERIMENT_LABEL = Operation(
    "DELETE", "/api/v1/experiments/{experiment_id:int}/labels/{label:str}", Nothing, DeleteExperimentLabelResponse
)
ADD_EXPERIMENT_LABEL = Operation(
    "PUT", "/api/v1/experiments/{experiment_id:int}/labels/{label:str}", Nothing, PutExperimentLabelResponse
)
RETAIN_EXPERIMENT_LOGS = Operation(
    "PUT",
    "/api/v1/experiments/{experiment_id:int}/retain_logs",
    PutExperimentRetainLogsRequest,
    Nothing,
    rpc="PutExperimentRetainLogs",
)
DELETE_TENSORBOARD_FILES = Operation(
    "DELETE", "/api/v1/experiments/{experiment_id:int}/tensorboard-files", Nothing, Nothing
)
GET_VALIDATION_HISTORY = Operation(
    "GET", "/api/v1/experiments/{experiment_id:int}/validation-history", Nothing, GetExperimentValidationHistoryResponse
)
GET_BEST_SEARCHER_METRIC = Operation(
    "GET",
    "/api/v1/experiments/{experiment_id:int}/searcher/best_searcher_validation_metric",
    Nothing,
    GetBestSearcherValidationMetricResponse,
)
REPRODUCE_EXPERIMENT = Operation(
    "POST",
    "/api/v1/experiments/{experiment_id:int}/reproduce",
    ReproduceExperimentRequest,
    CreateExperimentResponse,
    ours=True,
)
LIST_TRIALS = Operation(
    "GET", "/api/v1/experiments/{experiment_id:int}/trials", ListTrials, GetExperimentTrialsResponse
)
