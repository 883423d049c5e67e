"""Resource pools as scheduling sees them, read from the master's config. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from determined.config import overlay_container_defaults
from determined.config.container_defaults import TaskContainerDefaults
from determined.config.resources import DEFAULT_PRIORITY
from determined.engines import registry
from determined.engines.scheduling.model import FittingPolicy, Settings
from determined.master.config import MasterConfig
from determined.schema.engine_traits import EngineTraits

DEFAULT_POOL = "default"


class SchedulerKind(StrEnum):
    PRIORITY = "priority"
    FAIR_SHARE = "fair_share"
    ROUND_ROBIN = "round_robin"


@dataclass(frozen=True, slots=True)
class Pool:
    name: str
    description: str
    scheduler: SchedulerKind
    settings: Settings
    default_priority: int = DEFAULT_PRIORITY
    max_aux: int | None = None
    engine: str = registry.engine_name(registry.DEFAULT)  # whose nodes it is made of


def container_defaults(config: MasterConfig, pool_name: str) -> TaskContainerDefaults:
    """Lay the task_container_defaults of a pool over those of the cluster."""
    pool = config.pool(pool_name)
    own = pool.task_container_defaults.raw if pool and pool.task_container_defaults else None
    return TaskContainerDefaults.load(overlay_container_defaults(own, config.task_container_defaults.raw))


def engine_type(config: MasterConfig, pool: str) -> str:
    """Tell what kind of engine runs the tasks of a pool."""
    configured = config.pool(pool)
    engine = config.engine(configured.engine) if configured is not None else None
    return (engine or config.engines[0]).type


def engine_traits(config: MasterConfig, pool: str) -> EngineTraits:
    """Tell by which names the fields of configs mean the engine of a pool."""
    return registry.traits(engine_type(config, pool))


def pools_of(config: MasterConfig) -> dict[str, Pool]:
    """Return the pools by name, in the order of the config."""
    return {
        pool.pool_name: Pool(
            name=pool.pool_name,
            description=pool.description,
            scheduler=SchedulerKind(pool.scheduler.type),
            settings=Settings(
                pool=pool.pool_name,
                preemption=pool.scheduler.preemption,
                fitting=FittingPolicy(pool.scheduler.fitting_policy),
                allow_heterogeneous=pool.scheduler.allow_heterogeneous_fits,
            ),
            default_priority=pool.scheduler.default_priority,
            max_aux=pool.max_aux_containers_per_agent,
            engine=pool.engine,
        )
        for pool in config.pools
    }
