"""The settings of a Ray resource manager and of its pools as typed data."""

from dataclasses import dataclass, field
from typing import Any

from determined.config.layers import checked
from determined.config.master_schema import RESOURCE_MANAGER, Duration
from determined.config.node import Boolean, FreeMap, Integer, Text
from determined.config.objects import Field, Object
from determined.config.quantities import parse_duration

GPU, CPU = "GPU", "CPU"


@dataclass(frozen=True, slots=True)
class RayManager:
    """`bridge_grace`: seconds without a word from the bridge until its nodes are offered no more; `bridge_silence`:
    until its runners count as lost."""

    dashboard_url: str = "http://127.0.0.1:8265"
    auth_token_file: str | None = None
    python: str = "python"
    run_root: str | None = None
    bridge_grace: float = 30.0
    bridge_silence: float = 120.0
    start_timeout: float = 60.0


@dataclass(frozen=True, slots=True)
class RayPool:
    """Which nodes of the cluster are a pool, and what a slot of it is.

    `slots_per_node` limits a node that is there and is the size of one that may come; `max_nodes` counts both.
    """

    name: str
    resource: str = GPU
    per_slot: float = 1.0
    labels: dict[str, str] = field(default_factory=dict)
    marker: str | None = None
    slots_per_node: int | None = None
    max_nodes: int = 0
    include_head: bool = True


MANAGER = Object(
    {
        "dashboard_url": Field(Text(), default="http://127.0.0.1:8265"),
        "auth_token_file": Field(Text(), default=None),
        "python": Field(Text(), default="python"),
        "run_root": Field(Text(), default=None),
        "bridge_grace": Field(Duration(), default="30s"),
        "bridge_silence": Field(Duration(), default="2m"),
        "start_timeout": Field(Duration(), default="60s"),
    }
)
POOL = Object(
    {
        "resource": Field(Text(), default=GPU),
        "per_slot": Field(Integer(low=1), default=1),
        "labels": Field(FreeMap(), default={}),
        "marker": Field(Text(), default=None),
        "slots_per_node": Field(Integer(low=1), default=None),
        "max_nodes": Field(Integer(low=0), default=0),
        "include_head": Field(Boolean(), default=True),
    }
)


def ray_manager(settings: dict[str, Any]) -> RayManager:
    """`settings`: also the keys that every manager has. Raises InvalidConfig with every violation."""
    own = {key: value for key, value in settings.items() if key not in RESOURCE_MANAGER.fields}
    filled = checked(MANAGER, own, "invalid resource manager of type ray")
    return RayManager(
        dashboard_url=str(filled["dashboard_url"]).rstrip("/"),
        auth_token_file=filled["auth_token_file"],
        python=filled["python"],
        run_root=filled["run_root"],
        bridge_grace=_seconds(filled["bridge_grace"]),
        bridge_silence=_seconds(filled["bridge_silence"]),
        start_timeout=_seconds(filled["start_timeout"]),
    )


def ray_pool(name: str, settings: dict[str, Any]) -> RayPool:
    """`settings`: the `ray` section of a pool. Raises InvalidConfig with every violation."""
    filled = checked(POOL, dict(settings), f"invalid `ray` section of resource pool '{name}'")
    return RayPool(
        name=name,
        resource=filled["resource"],
        per_slot=float(filled["per_slot"]),
        labels={str(key): str(value) for key, value in filled["labels"].items()},
        marker=filled["marker"],
        slots_per_node=filled["slots_per_node"],
        max_nodes=filled["max_nodes"],
        include_head=filled["include_head"],
    )


def _seconds(value: Any) -> float:
    return parse_duration(value) if isinstance(value, str) else float(value)
