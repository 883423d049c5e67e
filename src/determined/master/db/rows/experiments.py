"""Rows of jobs, experiments, their searches and trials.

Written by scripts/make_rows.py from db/schema/experiments.py; do not edit.
"""

from datetime import datetime
from typing import TypedDict

import msgspec

from determined._json import JsonObject


class Job(msgspec.Struct, frozen=True):
    id: str
    type: str
    owner_id: int
    workspace_id: int
    pool: str
    priority: int
    weight: float
    max_slots: int | None
    submitted_at: datetime
    position: float


class JobValues(TypedDict, total=False):
    id: str
    type: str
    owner_id: int
    workspace_id: int
    pool: str
    priority: int
    weight: float
    max_slots: int | None
    submitted_at: datetime
    position: float


class Experiment(msgspec.Struct, frozen=True):
    id: int
    job_id: str
    project_id: int
    owner_id: int
    parent_id: int | None
    state: str
    name: str
    description: str | None
    notes: str
    labels: list[str]
    config: JsonObject
    original_config: str
    template: str | None
    archived: bool
    unmanaged: bool
    external_id: str | None
    generation: str
    searcher_metric: str | None
    smaller_is_better: bool
    warm_start_checkpoint: str | None
    submitter_python: str | None
    progress: float | None
    start_time: datetime
    end_time: datetime | None
    best_trial_id: int | None
    error: str | None
    gc_time: datetime | None


class ExperimentValues(TypedDict, total=False):
    id: int
    job_id: str
    project_id: int
    owner_id: int
    parent_id: int | None
    state: str
    name: str
    description: str | None
    notes: str
    labels: list[str]
    config: JsonObject
    original_config: str
    template: str | None
    archived: bool
    unmanaged: bool
    external_id: str | None
    generation: str
    searcher_metric: str | None
    smaller_is_better: bool
    warm_start_checkpoint: str | None
    submitter_python: str | None
    progress: float | None
    start_time: datetime
    end_time: datetime | None
    best_trial_id: int | None
    error: str | None
    gc_time: datetime | None


class EnvironmentLock(msgspec.Struct, frozen=True):
    """Resolved requirements of an experiment, for each kind of machine and Python that asked."""

    experiment_id: int
    platform: str
    content: str
    created_at: datetime


class EnvironmentLockValues(TypedDict, total=False):
    experiment_id: int
    platform: str
    content: str
    created_at: datetime


class SearchEvent(msgspec.Struct, frozen=True):
    """Event log of a search; a restart loads the snapshot and replays the later events."""

    experiment_id: int
    seq: int
    event: JsonObject


class SearchQueueEntry(msgspec.Struct, frozen=True):
    """Operations that a search has asked for and that are not done yet, in order (lifecycle/search_batches.py)."""

    experiment_id: int
    n: int
    operations: list[JsonObject]


class SearchHistoryEntry(msgspec.Struct, frozen=True):
    """Events that a search has learnt from its trials, in order and for good: a continued search replays them."""

    experiment_id: int
    n: int
    request_id: str
    event: JsonObject
    pending: bool


class Trial(msgspec.Struct, frozen=True):
    id: int
    experiment_id: int
    request_id: str
    task_id: str
    state: str
    hparams: JsonObject
    seed: int
    run_id: int
    restarts: int
    start_time: datetime
    end_time: datetime | None
    runner_state: str | None
    metadata: JsonObject | None
    progress: float | None
    op_length: int | None
    op_completed: int | None
    op_closed: bool
    early_stopped: bool
    stop_reason: str | None
    early_exit: str | None
    exit_reported: bool
    warm_start_checkpoint: str | None
    steps_completed: int
    latest_validation_step: int | None
    latest_validation_value: float | None
    latest_validation_time: datetime | None
    best_validation_step: int | None
    best_validation_value: float | None
    best_validation_time: datetime | None
    latest_checkpoint: str | None
    checkpoint_count: int
    checkpoint_size: int
    log_retention_days: int | None
    log_policy_label: str | None
    external_id: str | None
    last_activity: datetime | None
    archived: bool


class TrialValues(TypedDict, total=False):
    id: int
    experiment_id: int
    request_id: str
    task_id: str
    state: str
    hparams: JsonObject
    seed: int
    run_id: int
    restarts: int
    start_time: datetime
    end_time: datetime | None
    runner_state: str | None
    metadata: JsonObject | None
    progress: float | None
    op_length: int | None
    op_completed: int | None
    op_closed: bool
    early_stopped: bool
    stop_reason: str | None
    early_exit: str | None
    exit_reported: bool
    warm_start_checkpoint: str | None
    steps_completed: int
    latest_validation_step: int | None
    latest_validation_value: float | None
    latest_validation_time: datetime | None
    best_validation_step: int | None
    best_validation_value: float | None
    best_validation_time: datetime | None
    latest_checkpoint: str | None
    checkpoint_count: int
    checkpoint_size: int
    log_retention_days: int | None
    log_policy_label: str | None
    external_id: str | None
    last_activity: datetime | None
    archived: bool
