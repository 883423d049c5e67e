"""Rows of storages and checkpoints.

Written by scripts/make_rows.py from db/schema/checkpoints.py; do not edit.
"""

from datetime import datetime
from typing import TypedDict

import msgspec

from determined._json import JsonObject


class StorageBackendValues(TypedDict, total=False):
    id: int
    key: str
    config: JsonObject


class Checkpoint(msgspec.Struct, frozen=True):
    uuid: str
    task_id: str
    allocation_id: str | None
    trial_id: int | None
    experiment_id: int | None
    run_id: int | None
    state: str
    steps_completed: int
    metadata: JsonObject
    resources: dict[str, int]
    size: int
    report_time: datetime
    storage_id: int | None
    delete_requested_at: datetime | None
    delete_globs: list[str] | None


class CheckpointValues(TypedDict, total=False):
    uuid: str
    task_id: str
    allocation_id: str | None
    trial_id: int | None
    experiment_id: int | None
    run_id: int | None
    state: str
    steps_completed: int
    metadata: JsonObject
    resources: dict[str, int]
    size: int
    report_time: datetime
    storage_id: int | None
    delete_requested_at: datetime | None
    delete_globs: list[str] | None


class TrialStorageValues(TypedDict, total=False):
    trial_id: int
    storage_id: int


class TrialSourceInfoValues(TypedDict, total=False):
    trial_id: int
    checkpoint_uuid: str
    type: str
    model_id: int | None
    model_version: int | None
