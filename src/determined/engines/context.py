"""Plain data that a master gives to an engine when it builds it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from determined.engines.resource_manager import ResourceManager
from determined.engines.resource_pool import PoolConfig

M = TypeVar("M", bound=ResourceManager)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The master's own machine, as its config offers it.

    Args:
        nodes: To offer, where the engine can offer several.
        slots: Artificial CPU slots; None: its devices.
        slot_type: Which devices count as slots.
        visible_gpus: What the master's environment says may be used; None for all.
    """

    nodes: int = 1
    slots: int | None = None
    slot_type: str = "auto"
    visible_gpus: str | None = None


@dataclass(frozen=True, slots=True)
class Certificate:
    """The master's certificate as runners must know it. `name` is None where it is made out to the master's address."""

    file: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineContext(Generic[M]):
    """The master as an engine's wiring sees it.

    Args:
        name: Of the engine; no other engine of this master has it.
        manager: Its section of the config, of its own class.
        pools: Its resource pools.
        default_pool: Where the cluster runs what names no pool; perhaps another engine's.
        data_dir: The master's directory; what is the engine's own lies in `own_dir`.
        is_alone: The master has no other engine.
        python: The interpreter of the master.
        cluster_id, secret: Who the master is; the secret derives the tokens of allocations.
        master_url: Where runners reach the master.
        certificate: Reads its certificate; blocking.
    """

    name: str
    manager: M
    pools: tuple[PoolConfig, ...]
    default_pool: str
    data_dir: Path
    machine: Machine
    is_alone: bool
    python: str
    cluster_id: str
    secret: bytes = field(repr=False)
    master_url: str
    certificate: Callable[[], Certificate]

    @property
    def own_dir(self) -> Path:
        return self.data_dir / self.name


@dataclass(frozen=True, slots=True)
class FoundPools:
    """Pools that an engine names, and the one that serves where a job names none."""

    names: tuple[str, ...]
    default: str
