"""Runs: the flat view of trials."""

from typing import Any

from determined.wire.base import LongText, Pagination
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation
from determined.wire.trial import TrialState
from determined.wire.upstream import Ours, UpstreamRequired


class SearchRunsRequest(Wire):
    filter: LongText | None = None
    limit: int | None = None
    offset: int | None = None
    project_id: int | None = None
    sort: str | None = None
    group_by: Ours[list[str]] = []  # columns; then `groups` are answered instead of runs
    group_metrics: Ours[list[str]] = []  # columns of numbers to sum up in each group


class FlatRunExperiment(Wire):
    description: str
    id: int
    is_multitrial: bool
    name: str
    progress: float
    resource_pool: str
    searcher_metric: str
    searcher_type: str
    unmanaged: bool
    external_experiment_id: str | None = None
    forked_from: int | None = None
    pachyderm_integration: dict[str, Any] | None = None


class FlatRun(Wire):
    archived: bool
    checkpoint_count: int
    checkpoint_size: str
    id: int
    parent_archived: bool
    project_id: int
    project_name: str
    start_time: str
    state: TrialState
    workspace_id: int
    workspace_name: str
    duration: int | None = None
    end_time: str | None = None
    experiment: FlatRunExperiment | None = None
    external_run_id: str | None = None
    hyperparameters: dict[str, Any] | None = None
    labels: list[str] | None = None
    local_id: str | None = None
    log_policy_matched: str | None = None
    metadata: dict[str, Any] | None = None
    searcher_metric_value: float | None = None
    shown_state: Ours[TrialState | None] = None  # as the trial says it, QUEUED or RUNNING for ACTIVE
    summary_metrics: dict[str, Any] | None = None
    user_id: int | None = None


class ColumnStatistics(Wire):
    """Statistics of the `n` runs of a group that have a finite number; `std` is the sample's, None below two."""

    n: int
    mean: float | None = None
    std: float | None = None
    min: float | None = None
    max: float | None = None


class RunGroup(Wire):
    """Runs with equal values in the columns of `key`. `run_ids`: the newest 1000 of the `n`."""

    key: dict[str, Any]
    n: int
    metrics: dict[str, ColumnStatistics]
    run_ids: list[int]


class SearchRunsResponse(Wire):
    pagination: Pagination  # of groups where these were asked for
    runs: list[FlatRun]
    groups: Ours[list[RunGroup] | None] = None
    exact: Ours[bool | None] = None  # of groups: whether every matching run was counted


class RunSelection(Wire):
    """Runs that a request changes: those with these ids, or all that match the filter."""

    project_id: UpstreamRequired[int | None] = None
    run_ids: UpstreamRequired[list[int]] = []
    filter: LongText | None = None


class RunActionResult(Wire):
    """`changed` (ours): its state, archiving or project did. `previous_project_id` (ours): where it was moved from."""

    error: str
    id: int
    changed: Ours[bool] = False
    previous_project_id: Ours[int | None] = None


class RunActionResults(Wire):
    """Answer of a request that changes many runs."""

    results: list[RunActionResult]


class ArchiveRunsRequest(RunSelection):
    pass


class ArchiveRunsResponse(RunActionResults):
    pass


class UnarchiveRunsRequest(RunSelection):
    pass


class UnarchiveRunsResponse(RunActionResults):
    pass


class DeleteRunsRequest(RunSelection):
    project_id: int | None = None


class DeleteRunsResponse(RunActionResults):
    pass


class KillRunsRequest(RunSelection):
    project_id: int | None = None


class KillRunsResponse(RunActionResults):
    pass


class MoveRunsRequest(Wire):
    destination_project_id: int
    run_ids: UpstreamRequired[list[int]] = []
    source_project_id: UpstreamRequired[int | None] = None
    filter: LongText | None = None
    skip_multitrial: bool | None = None


class MoveRunsResponse(RunActionResults):
    pass


class PauseRunsRequest(RunSelection):
    pass


class PauseRunsResponse(RunActionResults):
    pass


class ResumeRunsRequest(RunSelection):
    pass


class ResumeRunsResponse(RunActionResults):
    pass


class RunPrepareForReportingRequest(Wire):
    run_id: int
    checkpoint_storage: dict[str, Any] | None = None


class RunPrepareForReportingResponse(Wire):
    storage_id: int | None = None


class GetRunMetadataResponse(Wire):
    metadata: dict[str, Any] | None = None


class PostRunMetadataRequest(Wire):
    metadata: dict[str, Any]
    run_id: int | None = None


class PostRunMetadataResponse(Wire):
    metadata: dict[str, Any] | None = None


SEARCH_RUNS = Operation("POST", "/api/v1/runs", SearchRunsRequest, SearchRunsResponse)
PREPARE_FOR_REPORTING = Operation(
    "POST", "/api/v1/runs/start", RunPrepareForReportingRequest, RunPrepareForReportingResponse
)
POST_RUN_METADATA = Operation(
    "POST", "/api/v1/runs/{run_id:int}/metadata", PostRunMetadataRequest, PostRunMetadataResponse
)
GET_RUN_METADATA = Operation("GET", "/api/v1/runs/{run_id:int}/metadata", Nothing, GetRunMetadataResponse)
KILL_RUNS = Operation("POST", "/api/v1/runs/kill", KillRunsRequest, KillRunsResponse)
PAUSE_RUNS = Operation("POST", "/api/v1/runs/pause", PauseRunsRequest, PauseRunsResponse)
RESUME_RUNS = Operation("POST", "/api/v1/runs/resume", ResumeRunsRequest, ResumeRunsResponse)
ARCHIVE_RUNS = Operation("POST", "/api/v1/runs/archive", ArchiveRunsRequest, ArchiveRunsResponse)
UNARCHIVE_RUNS = Operation("POST", "/api/v1/runs/unarchive", UnarchiveRunsRequest, UnarchiveRunsResponse)
DELETE_RUNS = Operation("POST", "/api/v1/runs/delete", DeleteRunsRequest, DeleteRunsResponse)
MOVE_RUNS = Operation("POST", "/api/v1/runs/move", MoveRunsRequest, MoveRunsResponse)
