"""Allocations: signals, rendezvous, readiness."""

from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta

from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation, Query
from determined.wire.upstream import Ours


class AllocationState(StrEnum):
    __upstream__ = "taskv1State"

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
    topic: Ours[str | None] = None  # calls with different topics do not meet


class AllocationAllGatherResponse(Wire):
    data: list[dict[str, Any]]


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


class GetPreemptionSignal(Query):
    timeout_seconds: Annotated[
        Annotated[float, Meta(ge=0, le=1e6)] | None, Meta(description="Seconds to wait for news; 0 by default.")
    ] = None


POST_ACCELERATOR_DATA = Operation(
    "POST",
    "/api/v1/allocations/{allocation_id:str}/acceleratorData",
    PostAllocationAcceleratorDataRequest,
    Nothing,
    rpc="PostAllocationAcceleratorData",
)
ACK_PREEMPTION = Operation(
    "POST",
    "/api/v1/allocations/{allocation_id:str}/signals/ack_preemption",
    Nothing,
    Nothing,
    rpc="AckAllocationPreemptionSignal",
)
ALL_GATHER = Operation(
    "POST",
    "/api/v1/allocations/{allocation_id:str}/all_gather",
    AllocationAllGatherRequest,
    AllocationAllGatherResponse,
)
GET_ALLOCATION = Operation("GET", "/api/v1/allocations/{allocation_id:str}", Nothing, GetAllocationResponse)
MARK_DAEMON = Operation(
    "POST",
    "/api/v1/allocations/{allocation_id:str}/resources/{resource_id:str}/daemon",
    Nothing,
    Nothing,
    rpc="MarkAllocationResourcesDaemon",
    id_names=("allocationId", "resourcesId"),
)
NOTIFY_CONTAINER_RUNNING = Operation(
    "POST",
    "/api/v1/allocations/{allocation_id:str}/notify_container_running",
    NotifyContainerRunningRequest,
    NotifyContainerRunningResponse,
)
POST_PENDING_PREEMPTION = Operation(
    "POST",
    "/api/v1/allocations/{allocation_id:str}/signals/pending_preemption",
    Nothing,
    Nothing,
    rpc="AllocationPendingPreemptionSignal",
)
GET_PREEMPTION_SIGNAL = Operation(
    "GET",
    "/api/v1/allocations/{allocation_id:str}/signals/preemption",
    GetPreemptionSignal,
    AllocationPreemptionSignalResponse,
)
POST_PROXY_ADDRESS = Operation(
    "POST",
    "/api/v1/allocations/{allocation_id:str}/proxy_address",
    PostAllocationProxyAddressRequest,
    Nothing,
    rpc="PostAllocationProxyAddress",
)
MARK_READY = Operation("POST", "/api/v1/allocations/{allocation_id:str}/ready", Nothing, Nothing, rpc="AllocationReady")
MARK_WAITING = Operation(
    "POST", "/api/v1/allocations/{allocation_id:str}/waiting", Nothing, Nothing, rpc="AllocationWaiting"
)
GET_RENDEZVOUS = Operation(
    "GET",
    "/api/v1/allocations/{allocation_id:str}/resources/{resource_id:str}/rendezvous",
    Nothing,
    AllocationRendezvousInfoResponse,
    id_names=("allocationId", "resourcesId"),
)
