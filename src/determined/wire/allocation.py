"""Allocations: signals, rendezvous, readiness."""

from enum import StrEnum
from typing import Any

from determined.wire.codec import Wire


class AllocationState(StrEnum):
    UNSPECIFIED = "STATE_UNSPECIFIED"
    PULLING = "STATE_PULLING"
    STARTING = "STATE_STARTING"
    RUNNING = "STATE_RUNNING"
    TERMINATED = "STATE_TERMINATED"
    TERMINATING = "STATE_TERMINATING"
    WAITING = "STATE_WAITING"
    QUEUED = "STATE_QUEUED"


class Allocation(Wire):
    allocation_id: str
    slots: int
    state: AllocationState
    task_id: str
    end_time: str | None = None
    exit_reason: str | None = None
    is_ready: bool | None = None
    start_time: str | None = None
    status_code: int | None = None


class GetAllocationResponse(Wire):
    allocation: Allocation


class AllocationPreemptionSignalResponse(Wire):
    preempt: bool | None = None


class RendezvousInfo(Wire):
    addresses: list[str]
    rank: int
    slots: list[int]


class AllocationRendezvousInfoResponse(Wire):
    rendezvous_info: RendezvousInfo


class AllocationAllGatherRequest(Wire):
    allocation_id: str
    data: dict[str, Any]
    num_peers: int | None = None
    request_uuid: str | None = None
    topic: str | None = None  # ours: calls with different topics do not meet


class AllocationAllGatherResponse(Wire):
    data: list[dict[str, Any]]


class AllocationReadyRequest(Wire):
    allocation_id: str | None = None


class AllocationWaitingRequest(Wire):
    allocation_id: str | None = None


class AckAllocationPreemptionSignalRequest(Wire):
    allocation_id: str


class AllocationPendingPreemptionSignalRequest(Wire):
    allocation_id: str


class MarkAllocationResourcesDaemonRequest(Wire):
    allocation_id: str
    resources_id: str | None = None


class NotifyContainerRunningRequest(Wire):
    allocation_id: str
    data: dict[str, Any]
    node_name: str | None = None
    num_peers: int | None = None
    rank: int | None = None
    request_uuid: str | None = None


class NotifyContainerRunningResponse(Wire):
    data: list[dict[str, Any]]


class AcceleratorData(Wire):
    accelerator_type: str | None = None
    accelerator_uuids: list[str] | None = None
    allocation_id: str | None = None
    container_id: str | None = None
    node_name: str | None = None
    resource_pool: str | None = None
    task_id: str | None = None


class PostAllocationAcceleratorDataRequest(Wire):
    accelerator_data: AcceleratorData
    allocation_id: str


class PostAllocationProxyAddressRequest(Wire):
    allocation_id: str | None = None
    proxy_address: str | None = None


class ResourceAllocationAggregationPeriod(StrEnum):
    UNSPECIFIED = "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_UNSPECIFIED"
    DAILY = "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_DAILY"
    MONTHLY = "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_MONTHLY"


class ResourceAllocationAggregatedEntry(Wire):
    by_experiment_label: dict[str, float]
    by_resource_pool: dict[str, float]
    by_username: dict[str, float]
    period: ResourceAllocationAggregationPeriod
    period_start: str
    seconds: float


class ResourceAllocationAggregatedResponse(Wire):
    resource_entries: list[ResourceAllocationAggregatedEntry]


class ResourceAllocationRawEntry(Wire):
    end_time: str | None = None
    experiment_id: int | None = None
    kind: str | None = None
    labels: list[str] | None = None
    seconds: float | None = None
    slots: int | None = None
    start_time: str | None = None
    user_id: int | None = None
    username: str | None = None


class ResourceAllocationRawResponse(Wire):
    resource_entries: list[ResourceAllocationRawEntry] | None = None
