"""Resource pools."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from determined.wire.agent import DeviceType
from determined.wire.base import Paged, Pagination
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation
from determined.wire.upstream import Ours


class AwsCustomTag(Wire):
    key: str
    value: str


class ResourcePoolAwsDetail(Wire):
    iam_instance_profile_arn: str
    image_id: str
    instance_name: str
    public_ip: bool
    region: str
    root_volume_size: int
    security_group_id: str
    spot_enabled: bool
    ssh_key_name: str
    tag_key: str
    tag_value: str
    custom_tags: list[AwsCustomTag] | None = None
    instance_type: str | None = None
    log_group: str | None = None
    log_stream: str | None = None
    spot_max_price: str | None = None
    subnet_id: str | None = None


class ResourcePoolGcpDetail(Wire):
    boot_disk_size: int
    boot_disk_source_image: str
    external_ip: bool
    gpu_num: int
    gpu_type: str
    label_key: str
    label_value: str
    machine_type: str
    name_prefix: str
    network: str
    operation_timeout_period: float
    preemptible: bool
    project: str
    service_account_email: str
    service_account_scopes: list[str]
    zone: str
    network_tags: list[str] | None = None
    subnetwork: str | None = None


class K8PriorityClass(Wire):
    priority_class: str | None = None
    priority_value: int | None = None


class ResourcePoolPrioritySchedulerDetail(Wire):
    default_priority: int
    preemption: bool
    k8_priorities: list[K8PriorityClass] | None = None


class ResourcePoolDetail(Wire):
    aws: ResourcePoolAwsDetail | None = None
    gcp: ResourcePoolGcpDetail | None = None
    priority_scheduler: ResourcePoolPrioritySchedulerDetail | None = None


class FittingPolicy(StrEnum):
    UNSPECIFIED = "FITTING_POLICY_UNSPECIFIED"
    BEST = "FITTING_POLICY_BEST"
    WORST = "FITTING_POLICY_WORST"
    KUBERNETES = "FITTING_POLICY_KUBERNETES"
    SLURM = "FITTING_POLICY_SLURM"
    PBS = "FITTING_POLICY_PBS"


class SchedulerType(StrEnum):
    UNSPECIFIED = "SCHEDULER_TYPE_UNSPECIFIED"
    PRIORITY = "SCHEDULER_TYPE_PRIORITY"
    FAIR_SHARE = "SCHEDULER_TYPE_FAIR_SHARE"
    ROUND_ROBIN = "SCHEDULER_TYPE_ROUND_ROBIN"
    KUBERNETES = "SCHEDULER_TYPE_KUBERNETES"
    SLURM = "SCHEDULER_TYPE_SLURM"
    PBS = "SCHEDULER_TYPE_PBS"


class ResourcePoolType(StrEnum):
    UNSPECIFIED = "RESOURCE_POOL_TYPE_UNSPECIFIED"
    AWS = "RESOURCE_POOL_TYPE_AWS"
    GCP = "RESOURCE_POOL_TYPE_GCP"
    STATIC = "RESOURCE_POOL_TYPE_STATIC"
    K8S = "RESOURCE_POOL_TYPE_K8S"


class QueueStats(Wire):
    queued_count: int
    scheduled_count: int


class ResourcePool(Wire):
    agent_docker_image: str
    agent_docker_network: str
    agent_docker_runtime: str
    agent_fluent_image: str
    aux_container_capacity: int
    aux_container_capacity_per_agent: int
    aux_containers_running: int
    cluster_name: str
    container_startup_script: str
    default_aux_pool: bool
    default_compute_pool: bool
    description: str
    details: ResourcePoolDetail
    image_id: str
    instance_type: str
    location: str
    master_cert_name: str
    master_url: str
    max_agent_starting_period: float
    max_agents: int
    max_idle_agent_period: float
    min_agents: int
    name: str
    num_agents: int
    preemptible: bool
    resource_manager_metadata: dict[str, str]
    scheduler_fitting_policy: FittingPolicy
    scheduler_type: SchedulerType
    slot_type: DeviceType
    slots_available: int
    slots_used: int
    slots_free: Ours[int]  # neither used nor disabled; what a job could start on now
    startup_script: str
    type: ResourcePoolType
    accelerator: str | None = None
    slots_per_agent: int | None = None
    stats: QueueStats | None = None


class GetResourcePoolsResponse(Wire):
    pagination: Pagination | None = None
    resource_pools: list[ResourcePool] | None = None


class ListWorkspacesBoundToRPResponse(Wire):
    pagination: Pagination | None = None
    workspace_ids: list[int] | None = None


class BindRPToWorkspaceRequest(Wire):
    resource_pool_name: str
    workspace_ids: list[int] | None = None
    workspace_names: list[str] | None = None


class UnbindRPFromWorkspaceRequest(Wire):
    resource_pool_name: str
    workspace_ids: list[int] | None = None
    workspace_names: list[str] | None = None


class OverwriteRPWorkspaceBindingsRequest(Wire):
    resource_pool_name: str
    workspace_ids: list[int] | None = None
    workspace_names: list[str] | None = None


class ListPools(Paged):
    unbound: Annotated[bool, Meta(description="Only pools that are bound to no workspace.")] = False


UNBIND_POOL = Operation(
    "DELETE",
    "/api/v1/resource-pools/{pool:str}/workspace-bindings",
    UnbindRPFromWorkspaceRequest,
    Nothing,
    rpc="UnbindRPFromWorkspace",
    id_names=("resourcePoolName",),
)
LIST_POOL_BINDINGS = Operation(
    "GET",
    "/api/v1/resource-pools/{pool:str}/workspace-bindings",
    Paged,
    ListWorkspacesBoundToRPResponse,
    id_names=("resourcePoolName",),
)
BIND_POOL = Operation(
    "POST",
    "/api/v1/resource-pools/{pool:str}/workspace-bindings",
    BindRPToWorkspaceRequest,
    Nothing,
    rpc="BindRPToWorkspace",
    id_names=("resourcePoolName",),
)
OVERWRITE_POOL_BINDINGS = Operation(
    "PUT",
    "/api/v1/resource-pools/{pool:str}/workspace-bindings",
    OverwriteRPWorkspaceBindingsRequest,
    Nothing,
    rpc="OverwriteRPWorkspaceBindings",
    id_names=("resourcePoolName",),
)
LIST_POOLS = Operation("GET", "/api/v1/resource-pools", ListPools, GetResourcePoolsResponse)
