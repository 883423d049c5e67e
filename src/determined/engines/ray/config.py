"""`resource_manager: {type: ray}`, and the `ray` section of its pools."""

from typing import Any

from determined._json import JsonObject
from determined.engines.resource_manager import ResourceManager
from determined.schema.layers import checked
from determined.schema.lists import FreeMap
from determined.schema.node import Boolean, Integer, Text
from determined.schema.quantity_nodes import Duration
from determined.schema.section import Section, field

GPU, CPU = "GPU", "CPU"


class _Url(Text):
    def load(self, value: Any) -> str:
        return str(value).rstrip("/")


class _Labels(FreeMap):
    def load(self, value: Any) -> JsonObject:
        return {str(key): str(item) for key, item in value.items()}


class RayPoolSection(Section):
    """The nodes of the cluster that are a pool, and what a slot of it is."""

    resource: str = field(Text(), "The resource of Ray that a slot is.", default=GPU)
    per_slot: float = field(Integer(low=1), "How much of it.", default=1)
    labels: dict[str, str] = field(_Labels(), "Labels that a node of the pool has.", default={})
    marker: str | None = field(Text(), "A custom resource that a node of the pool has.", default=None)
    slots_per_node: int | None = field(
        Integer(low=1), "Limits a node that is there, and is the size of one that may come.", default=None
    )
    max_nodes: int = field(Integer(low=0), "Nodes that may be there or come.", default=0)
    include_head: bool = field(Boolean(), "Whether Ray's head node belongs to the pool.", default=True)


class RayPool(RayPoolSection):
    """The section with the name of its pool."""

    name: str = field(Text(), "The name of the pool.")


class RayPoolKeys(Section):
    """The keys that Ray adds to a resource pool."""

    ray: JsonObject = field(
        FreeMap(), "Ray: which nodes belong to this pool and what a slot is.", default={}, fill=False,
        engines=("ray",),
    )  # fmt: skip


class RayManager(ResourceManager):
    """An operator's Ray cluster."""

    kind = "ray"
    where = "a Ray cluster"
    page = "ray.md"
    pool_keys = RayPoolKeys

    type: str = field(Text(), "`ray`.", default="ray")
    dashboard_url: str = field(_Url(), "The dashboard of the cluster.", default="http://127.0.0.1:8265")
    auth_token_file: str | None = field(Text(), "A file with the token of the dashboard.", default=None)
    python: str = field(Text(), "The interpreter on the nodes.", default="python")
    run_root: str | None = field(
        Text(),
        "Where run directories are made on the nodes. Default: a private one in the temporary directory.",
        default=None,
    )
    bridge_grace: float = field(
        Duration(), "Without a word from the bridge for so long, its nodes are offered no more.", default="30s"
    )
    bridge_silence: float = field(
        Duration(), "Without a word from the bridge for so long, its runners count as lost.", default="2m"
    )
    start_timeout: float = field(Duration(), "How long the start of a runner may take.", default="60s")

    @classmethod
    def check_pool(cls, name: str, pool: JsonObject) -> None:
        ray_pool(name, RayPoolKeys.load(pool).ray)


def ray_pool(name: str, settings: JsonObject) -> RayPool:
    """Check and type the `ray` section of a pool. Raises InvalidConfig with every violation."""
    headline = f"invalid `ray` section of resource pool '{name}'"
    return RayPool.load({**checked(RayPoolSection, settings, headline), "name": name})
