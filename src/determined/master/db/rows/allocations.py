"""Rows of tasks, allocations, their runners and how far each runner's journals are written.

Written by scripts/make_rows.py from db/schema/allocations.py; do not edit.
"""

from datetime import datetime
from typing import TypedDict

import msgspec

from determined._json import JsonObject


class Task(msgspec.Struct, frozen=True):
    id: str
    type: str
    job_id: str | None
    trial_id: int | None
    experiment_id: int | None
    spec: JsonObject | None
    start_time: datetime
    end_time: datetime | None
    log_retention_days: int | None
    next_log_id: int


class TaskValues(TypedDict, total=False):
    id: str
    type: str
    job_id: str | None
    trial_id: int | None
    experiment_id: int | None
    spec: JsonObject | None
    start_time: datetime
    end_time: datetime | None
    log_retention_days: int | None
    next_log_id: int


class Allocation(msgspec.Struct, frozen=True):
    id: str
    task_id: str
    trial_id: int | None
    run_id: int
    state: str
    slots: int
    pool: str
    preemptible: bool
    single_node: bool
    requested_at: datetime
    assigned_at: datetime | None
    started_at: datetime | None
    ready_at: datetime | None
    ended_at: datetime | None
    ports: dict[str, int] | None
    preempt_at: datetime | None
    preempt_reason: str | None
    preempt_deadline: datetime | None
    preempt_acked_at: datetime | None
    kill_at: datetime | None
    kill_reason: str | None
    stacks_requested: int
    shell_requested: bool
    exit_kind: str | None
    exit_reason: str | None
    exit_code: int | None
    drained: bool
    accelerators: list[JsonObject] | None
    proxy_address: str | None


class AllocationValues(TypedDict, total=False):
    id: str
    task_id: str
    trial_id: int | None
    run_id: int
    state: str
    slots: int
    pool: str
    preemptible: bool
    single_node: bool
    requested_at: datetime
    assigned_at: datetime | None
    started_at: datetime | None
    ready_at: datetime | None
    ended_at: datetime | None
    ports: dict[str, int] | None
    preempt_at: datetime | None
    preempt_reason: str | None
    preempt_deadline: datetime | None
    preempt_acked_at: datetime | None
    kill_at: datetime | None
    kill_reason: str | None
    stacks_requested: int
    shell_requested: bool
    exit_kind: str | None
    exit_reason: str | None
    exit_code: int | None
    drained: bool
    accelerators: list[JsonObject] | None
    proxy_address: str | None


class Runner(msgspec.Struct, frozen=True):
    """Runners (containers) of allocations, one row each."""

    resource_id: str
    allocation_id: str
    container_id: str
    rank: int
    engine: str
    node_id: str
    slot_ids: list[int]
    device: str
    state: str
    address: str | None
    claimant: str | None
    rendezvous_at: datetime | None
    started_at: datetime | None
    exited_at: datetime | None
    exit_code: int | None
    exit_cause: str | None
    exit_message: str | None
    daemon: bool
    drained: bool


class RunnerValues(TypedDict, total=False):
    resource_id: str
    allocation_id: str
    container_id: str
    rank: int
    engine: str
    node_id: str
    slot_ids: list[int]
    device: str
    state: str
    address: str | None
    claimant: str | None
    rendezvous_at: datetime | None
    started_at: datetime | None
    exited_at: datetime | None
    exit_code: int | None
    exit_cause: str | None
    exit_message: str | None
    daemon: bool
    drained: bool
