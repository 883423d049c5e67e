"""Resource managers and resource pools of a master config: what all engines share, and the keys that each adds."""

from determined.engines import registry
from determined.engines.resource_manager import ManagerNode, ResourceManager
from determined.engines.resource_pool import PoolConfig, PoolNode
from determined.schema.lists import ListOf
from determined.schema.node import Text
from determined.schema.section import Section, field


class AnyManager(ResourceManager, node=ManagerNode, extra=True):
    """A resource manager of any engine; that engine's own section knows the other keys (`registry.manager`)."""

    type: str = field(
        Text(choices=(*registry.managers(), *registry.NOT_IMPLEMENTED)),
        f"{registry.described()}.",
        default=registry.DEFAULT,
    )

    @property
    def engine_name(self) -> str:
        return registry.engine_name(self.type, self.name)


class AnyPool(PoolConfig, node=PoolNode, added=registry.pool_fields()):
    """A resource pool of any engine. The keys of engines are read by their sections (`ResourceManager.pool_keys`)."""


class AdditionalManager(Section):
    """Additional engine, with its pools."""

    resource_manager: AnyManager = field(AnyManager, "As above.")
    resource_pools: tuple[AnyPool, ...] = field(ListOf(AnyPool, nonempty=True), "As below.")
