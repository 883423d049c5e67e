"""The `resource_manager` section of a master config, as far as all engines share it, and the traits of an engine.

An engine derives its own section from `ResourceManager` in the `config.py` of its folder (registry.py finds it there).
"""

from typing import Any, ClassVar, Self

from determined._json import JsonObject, JsonValue
from determined.config.resources import DEFAULT_PRIORITY, PRIORITY_RANGE
from determined.schema.lists import FreeMap
from determined.schema.node import Boolean, Integer, Text
from determined.schema.objects import Object
from determined.schema.section import Section, field

_OLD_KEYS = {
    "default_cpu_resource_pool": "default_aux_resource_pool",
    "default_gpu_resource_pool": "default_compute_resource_pool",
}


def renamed(raw: JsonValue, names: dict[str, str]) -> JsonValue:
    """Give keys of older releases their present names."""
    if not isinstance(raw, dict):
        return raw
    fields = {names[key]: value for key, value in raw.items() if key in names}
    return {**fields, **{key: value for key, value in raw.items() if key not in names}}


class Scheduler(Section):
    """The scheduler of a pool."""

    type: str = field(
        Text(choices=("priority", "fair_share", "round_robin")),
        "`round_robin` is the oldest and simplest.",
        default="priority",
    )
    preemption: bool = field(Boolean(), "Let urgent jobs push others out (priority scheduler).", default=False)
    default_priority: int = field(
        Integer(*PRIORITY_RANGE), "Of jobs that name none; 1 is the most urgent.", default=DEFAULT_PRIORITY
    )
    fitting_policy: str = field(
        Text(choices=("best", "worst")), "`best` fills nodes up, `worst` spreads.", default="best"
    )
    allow_heterogeneous_fits: bool = field(Boolean(), "Let one trial use nodes of different sizes.", default=False)


class NoPoolKeys(Section):
    """An engine that adds no keys to resource pools."""


class ManagerNode(Object[Any]):
    """Older releases had other names for the default pools."""

    def canonical(self, value: JsonValue) -> JsonValue:
        return renamed(super().canonical(value), _OLD_KEYS)


class ResourceManager(Section, node=ManagerNode, extra=True):
    """The fields that every resource manager has. A subclass adds those of its engine, and says in class variables:

    kind: the `type` that chooses it.
    default_name: the engine's name where the config gives none; "": its kind.
    where: where its tasks run, in words for lists of engines.
    page: the page about it, below docs/.
    runs_here: tasks run on the master's own machine, as users that the master chooses.
    runs_containers: tasks run in containers, from images.
    forks_trials: trials start by a fork of an interpreter that has imported their packages.
    is_single: at most one manager of a master may be of this kind.
    device_keys: fields that say which devices of the master's machine are its own.
    finds_pools: where the config names no pools, the engine does (`find_pools` of its wiring).
    pool_keys: section of the keys that it adds to its resource pools.
    """

    kind: ClassVar[str] = ""
    default_name: ClassVar[str] = ""
    where: ClassVar[str] = ""
    page: ClassVar[str] = ""
    runs_here: ClassVar[bool] = False
    runs_containers: ClassVar[bool] = False
    forks_trials: ClassVar[bool] = False
    is_single: ClassVar[bool] = False
    device_keys: ClassVar[tuple[str, ...]] = ()
    finds_pools: ClassVar[bool] = False
    pool_keys: ClassVar[type[Section]] = NoPoolKeys

    type: str = field(Text(), "The kind of engine.")
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

    @classmethod
    def of(cls, raw: JsonObject) -> Self:
        """Check and type a section. Raises InvalidConfig with every violation."""
        return cls.parse(raw, f"invalid resource_manager of type {raw.get('type')}")

    @property
    def remote_callers(self) -> str | None:
        """Name the tasks that reach the master over a network; None where all of them run beside it."""
        return None if self.runs_here else "tasks on other hosts"

    @classmethod
    def check_pool(cls, name: str, pool: JsonObject) -> None:
        """Check the keys that this engine adds to a pool. Raises InvalidConfig with every violation."""
