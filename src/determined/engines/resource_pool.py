"""The `resource_pools` section of a master config, as far as all engines share it."""

from collections.abc import Iterator
from typing import Any

from determined._json import JsonObject, JsonValue
from determined.config.container_defaults import TaskContainerDefaults
from determined.engines.resource_manager import Scheduler, renamed
from determined.schema.node import Integer, Node, Text
from determined.schema.objects import Object
from determined.schema.quantity_nodes import Duration
from determined.schema.section import Section, field

_OLD_KEYS = {"max_cpu_containers_per_agent": "max_aux_containers_per_agent"}


def _provider_sizes(value: JsonObject) -> Iterator[tuple[str, str]]:
    low, high = value.get("min_instances", 0), value.get("max_instances", 5)
    if isinstance(low, int) and isinstance(high, int) and low > high:
        yield "", f"max_instances={high} is below min_instances={low}"


class Provider(Section, extra=True, rules=(_provider_sizes,)):
    """Cloud instances of a pool."""

    type: str | None = field(Text(), "The cloud.", default=None, fill=False)


class PoolNode(Object[Any]):
    """An older release had another name for the limit of tasks without slots."""

    def canonical(self, value: JsonValue) -> JsonValue:
        return renamed(super().canonical(value), _OLD_KEYS)

    def json_schema(self) -> JsonObject:
        known = super().json_schema()
        old = {name: {**known["properties"][new], "deprecated": True} for name, new in _OLD_KEYS.items()}
        return {**known, "properties": {**known["properties"], **old}}


class PoolConfig(Section, node=PoolNode):
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
