"""Trials in full, for bundles: what the other answers about a trial leave out. Ours.

Metrics and logs are not in it; `series` and `tasks` say which there are.
"""

from typing import Annotated, Any

from msgspec import Meta

from determined._json import JsonObject
from determined.wire.base import Paged, Pagination
from determined.wire.codec import Wire
from determined.wire.operation import Operation

MOST = 50
"""Records in an answer at most: each may carry the file lists of a hundred checkpoints."""


class TaskRecord(Wire):
    """Task of a trial; one that was continued has several."""

    id: str
    start_time: str
    end_time: str | None = None
    log_retention_days: int | None = None
    log_lines: int = 0


class AllocationRecord(Wire):
    id: str
    task_id: str
    run_id: int
    slots: int
    pool: str
    requested_at: str
    assigned_at: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    exit_kind: str | None = None
    exit_reason: str | None = None
    exit_code: int | None = None


class SeriesRecord(Wire):
    """Reports of a run in a group. `indexed`: they carry no steps and are numbered in their order."""

    run_id: int
    group: str
    points: int
    indexed: bool = False


class CheckpointRecord(Wire):
    """Checkpoint. `storage`: section of the storage it is in, secrets masked; None: that of the experiment's config.

    `hashes`: of those files whose hash its manifest has, as in storage/copying.py; only where they were asked for.
    """

    uuid: str
    task_id: str
    state: str
    steps_completed: int
    metadata: JsonObject
    resources: dict[str, int]
    size: int
    report_time: str
    allocation_id: str | None = None
    run_id: int | None = None
    storage: JsonObject | None = None
    hashes: dict[str, str] = {}


class TrialRecord(Wire):
    """States are bare names. Of validations, values are those of the searcher's metric."""

    id: int
    request_id: str
    task_id: str
    state: str
    hparams: JsonObject
    seed: int
    run_id: int
    restarts: int
    start_time: str
    steps_completed: int
    end_time: str | None = None
    runner_state: str | None = None
    metadata: dict[str, Any] | None = None
    progress: float | None = None
    early_stopped: bool = False
    stop_reason: str | None = None
    early_exit: str | None = None
    warm_start_checkpoint: str | None = None
    latest_validation_step: int | None = None
    latest_validation_value: float | str | None = None
    latest_validation_time: str | None = None
    best_validation_step: int | None = None
    best_validation_value: float | str | None = None
    best_validation_time: str | None = None
    latest_checkpoint: str | None = None
    log_retention_days: int | None = None
    log_policy_label: str | None = None
    external_id: str | None = None
    last_activity: str | None = None
    archived: bool = False
    tasks: list[TaskRecord] = []
    allocations: list[AllocationRecord] = []
    series: list[SeriesRecord] = []
    checkpoints: list[CheckpointRecord] = []


class ListTrialRecords(Paged):
    """A page of the trials of an experiment, by id; at most 50."""

    hashes: Annotated[
        bool | None, Meta(description="Also hashes of checkpoint files, from the manifests in their storages.")
    ] = None


class ListTrialRecordsResponse(Wire):
    trials: list[TrialRecord]
    pagination: Pagination


LIST_TRIAL_RECORDS = Operation(
    "GET",
    "/api/v1/experiments/{experiment_id:int}/trial_records",
    ListTrialRecords,
    ListTrialRecordsResponse,
    ours=True,
)
