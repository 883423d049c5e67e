"""Resource managers and resource pools of a master config, as far as all engines share them."""

from collections.abc import Iterator
from typing import Any

from determined._json import JsonObject, JsonValue
from determined.config.container_defaults import TaskContainerDefaults
from determined.config.resources import PRIORITY_RANGE
from determined.schema.lists import FreeMap, ListOf
from determined.schema.node import Boolean, Integer, Node, Text
from determined.schema.objects import Object
from determined.schema.quantity_nodes import Duration
from determined.schema.section import Section, field

_OLD_MANAGER_KEYS = {
    "default_cpu_resource_pool": "default_aux_resource_pool",
    "default_gpu_resource_pool": "default_compute_resource_pool",
}
_OLD_POOL_KEYS = {"max_cpu_containers_per_agent": "max_aux_containers_per_agent"}


def _renamed(raw: JsonValue, names: dict[str, str]) -> JsonValue:
    if not isinstance(raw, dict):
        return raw
    renamed = {names[key]: value for key, value in raw.items() if key in names}
    return {**renamed, **{key: value for key, value in raw.items() if key not in names}}


def _provider_sizes(value: JsonObject) -> Iterator[tuple[str, str]]:
    low, high = value.get("min_instances", 0), value.get("max_instances", 5)
    if isinstance(low, int) and isinstance(high, int) and low > high:
        yield "", f"max_instances={high} is below min_instances={low}"


class Scheduler(Section):
    """The scheduler of a pool."""

    type: str = field(
        Text(choices=("priority", "fair_share", "round_robin")),
        "`round_robin` is the oldest and simplest.",
        default="priority",
    )
    preemption: bool = field(Boolean(), "Let urgent jobs push others out (priority scheduler).", default=False)
    default_priority: int = field(Integer(*PRIORITY_RANGE), "Of jobs that name none; 1 is the most urgent.", default=42)
    fitting_policy: str = field(
        Text(choices=("best", "worst")), "`best` fills nodes up, `worst` spreads.", default="best"
    )
    allow_heterogeneous_fits: bool = field(Boolean(), "Let one trial use nodes of different sizes.", default=False)


class Provider(Section, extra=True, rules=(_provider_sizes,)):
    """Cloud instances of a pool."""

    type: str | None = field(Text(), "The cloud.", default=None, fill=False)


class _Pool(Object[Any]):
    """An older release had another name for the limit of tasks without slots."""

    def canonical(self, value: JsonValue) -> JsonValue:
        return _renamed(super().canonical(value), _OLD_POOL_KEYS)


class PoolConfig(Section, node=_Pool):
    """A resource pool. `scheduler` is its own, or the resource manager's where it sets none."""

    pool_name: str = field(Text(), "Its name.")
    description: str = field(Text(), "Shown in lists.", default="")
    scheduler: Scheduler = field(Scheduler, "As under `resource_manager`.", default={}, fill=False)
    max_aux_containers_per_agent: int = field(Integer(low=0), "Tasks without slots per node.", default=100)
    task_container_defaults: TaskContainerDefaults | None = field(
        TaskContainerDefaults, "As above, for this pool.", default=None, fill=False
    )
    agent_reconnect_wait: float = field(Duration(), "How long a lost agent is waited for.", default="25s", engines=())
    agent_reattach_enabled: JsonValue = field(
        Node[Any](), "Agents always take up their tasks again.", default=None, fill=False, engines=()
    )
    provider: Provider | None = field(
        Provider, "Cloud instances that grow and shrink.", default=None, fill=False, engines=()
    )
    kubernetes_namespace: str | None = field(Text(), "For Kubernetes.", default=None, fill=False, engines=())
    partition: str | None = field(
        Text(), "Slurm: the partition behind this pool; default: its name.", default=None, fill=False,
        engines=("slurm",),
    )  # fmt: skip
    ray: JsonObject = field(
        FreeMap(), "Ray: which nodes belong to this pool and what a slot is.", default={}, fill=False,
        engines=("ray",),
    )  # fmt: skip


class _Manager(Object[Any]):
    """Older releases had other names for the default pools."""

    def canonical(self, value: JsonValue) -> JsonValue:
        return _renamed(super().canonical(value), _OLD_MANAGER_KEYS)


class ResourceManager(Section, node=_Manager, extra=True):
    """The fields that every resource manager has; its engine knows the others."""

    type: str = field(
        Text(choices=("agent", "docker", "ray", "slurm", "kubernetes", "pbs")),
        "`agent` (this machine), `docker` (this machine, in containers), `ray` or `slurm`.",
        default="agent",
    )
    name: str | None = field(
        Text(), "What the engine is called where several are configured; default: its type.", default=None, fill=False
    )
    cluster_name: str | None = field(Text(), "A name for the manager.", default=None, fill=False, engines=())
    scheduler: Scheduler = field(Scheduler, "For pools without one of their own.", default={})
    default_aux_resource_pool: str = field(Text(), "For tasks without slots.", default="default", fill=False)
    default_compute_resource_pool: str = field(Text(), "For everything else.", default="default", fill=False)
    no_default_resource_pools: bool = field(
        Boolean(), "Demand that each job names its pool.", default=False, engines=()
    )
    require_authentication: bool | None = field(
        Boolean(), "Certificates of agents.", default=None, fill=False, engines=()
    )
    client_ca: str | None = field(Text(), "Certificates of agents.", default=None, fill=False, engines=())
    metadata: JsonObject | None = field(FreeMap(), "Free data.", default=None, fill=False, engines=())

    @property
    def engine_name(self) -> str:
        """The name of its engine. Upstream calls our local engine an agent resource manager."""
        return self.name or ("local" if self.type == "agent" else self.type)


class AdditionalManager(Section):
    """One more engine, with its pools."""

    resource_manager: ResourceManager = field(ResourceManager, "As above.")
    resource_pools: tuple[PoolConfig, ...] = field(ListOf(PoolConfig, nonempty=True), "As below.")
