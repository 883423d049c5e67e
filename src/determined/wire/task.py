"""Tasks."""

from enum import StrEnum

from determined._json import JsonObject
from determined.wire.agent import Device
from determined.wire.allocation import AcceleratorData, Allocation, AllocationState
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation
from determined.wire.upstream import Ours


class TaskType(StrEnum):
    UNSPECIFIED = "TASK_TYPE_UNSPECIFIED"
    TRIAL = "TASK_TYPE_TRIAL"
    NOTEBOOK = "TASK_TYPE_NOTEBOOK"
    SHELL = "TASK_TYPE_SHELL"
    COMMAND = "TASK_TYPE_COMMAND"
    TENSORBOARD = "TASK_TYPE_TENSORBOARD"
    CHECKPOINT_GC = "TASK_TYPE_CHECKPOINT_GC"
    GENERIC = "TASK_TYPE_GENERIC"


class GenericTaskState(StrEnum):
    UNSPECIFIED = "GENERIC_TASK_STATE_UNSPECIFIED"
    ACTIVE = "GENERIC_TASK_STATE_ACTIVE"
    CANCELED = "GENERIC_TASK_STATE_CANCELED"
    COMPLETED = "GENERIC_TASK_STATE_COMPLETED"
    ERROR = "GENERIC_TASK_STATE_ERROR"
    PAUSED = "GENERIC_TASK_STATE_PAUSED"
    STOPPING_PAUSED = "GENERIC_TASK_STATE_STOPPING_PAUSED"
    STOPPING_CANCELED = "GENERIC_TASK_STATE_STOPPING_CANCELED"
    STOPPING_COMPLETED = "GENERIC_TASK_STATE_STOPPING_COMPLETED"
    STOPPING_ERROR = "GENERIC_TASK_STATE_STOPPING_ERROR"


class Task(Wire):
    allocations: list[Allocation]
    start_time: str
    task_id: str
    task_type: TaskType
    config: str | None = None
    end_time: str | None = None
    forked_from: str | None = None
    no_pause: bool | None = None
    parent_id: str | None = None
    task_state: GenericTaskState | None = None


class GetTaskResponse(Wire):
    task: Task


class ProxyPortConfig(Wire):
    port: int | None = None
    proxy_tcp: bool | None = None
    service_id: str | None = None
    unauthenticated: bool | None = None


class ResourcesSummaryDevices(Wire):
    __upstream__ = "ResourcesSummaryDevices"

    devices: list[Device] | None = None


class FailureType(StrEnum):
    UNSPECIFIED = "FAILURE_TYPE_UNSPECIFIED"
    RESOURCES_FAILED = "FAILURE_TYPE_RESOURCES_FAILED"
    RESOURCES_ABORTED = "FAILURE_TYPE_RESOURCES_ABORTED"
    RESOURCES_MISSING = "FAILURE_TYPE_RESOURCES_MISSING"
    TASK_ABORTED = "FAILURE_TYPE_TASK_ABORTED"
    TASK_ERROR = "FAILURE_TYPE_TASK_ERROR"
    AGENT_FAILED = "FAILURE_TYPE_AGENT_FAILED"
    AGENT_ERROR = "FAILURE_TYPE_AGENT_ERROR"
    RESTORE_ERROR = "FAILURE_TYPE_RESTORE_ERROR"
    UNKNOWN_ERROR = "FAILURE_TYPE_UNKNOWN_ERROR"


class ResourcesFailure(Wire):
    err_msg: str | None = None
    exit_code: int | None = None
    failure_type: FailureType | None = None


class ResourcesStopped(Wire):
    failure: ResourcesFailure | None = None


class Address(Wire):
    container_ip: str | None = None
    container_port: int | None = None
    host_ip: str | None = None
    host_port: int | None = None


class ResourcesStarted(Wire):
    addresses: list[Address] | None = None
    native_resources_id: str | None = None


class ResourcesSummary(Wire):
    agent_devices: dict[str, ResourcesSummaryDevices] | None = None
    allocation_id: str | None = None
    container_id: str | None = None
    exited: ResourcesStopped | None = None
    resources_id: str | None = None
    resources_type: str | None = None
    started: ResourcesStarted | None = None


class AllocationSummary(Wire):
    allocation_id: str | None = None
    name: str | None = None
    priority: int | None = None
    proxy_ports: list[ProxyPortConfig] | None = None
    registered_time: str | None = None
    resource_pool: str | None = None
    resources: list[ResourcesSummary] | None = None
    scheduler_type: str | None = None
    slots_needed: int | None = None
    task_id: str | None = None
    # ours, so that one request shows what every slot is for
    task_type: Ours[TaskType | None] = None
    state: Ours[AllocationState | None] = None
    experiment_id: Ours[int | None] = None
    trial_id: Ours[int | None] = None
    username: Ours[str | None] = None


class GetTasksResponse(Wire):
    allocation_id_to_summary: dict[str, AllocationSummary] | None = None


class GetActiveTasksCountResponse(Wire):
    commands: int
    notebooks: int
    shells: int
    tensorboards: int


class GetTaskAcceleratorDataResponse(Wire):
    accelerator_data: list[AcceleratorData]


COUNT_TASKS = Operation("GET", "/api/v1/tasks/count", Nothing, GetActiveTasksCountResponse)
GET_TASK_ACCELERATORS = Operation(
    "GET", "/api/v1/tasks/{task_id:str}/acceleratorData", Nothing, GetTaskAcceleratorDataResponse
)
GET_TASK = Operation("GET", "/api/v1/tasks/{task_id:str}", Nothing, GetTaskResponse)
LIST_TASKS = Operation("GET", "/api/v1/tasks", Nothing, GetTasksResponse)
LIST_TASKS_RAW = Operation("GET", "/tasks", Nothing, JsonObject, ours=True)
