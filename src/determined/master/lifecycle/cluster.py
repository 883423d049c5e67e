"""What this process knows of the cluster besides the database: its engines, their nodes, and why queued work waits.

One `Cluster` belongs to one master; services find it by the master's bus. Everything in it can be lost and built again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from determined.engines.base import Engine
from determined.engines.local.engine import LocalNode
from determined.engines.model import Node
from determined.errors import FailedPrecondition, Unavailable
from determined.master.bus import Bus


@dataclass(frozen=True, slots=True)
class PlacedNode:
    """A node and the engine it belongs to."""

    engine: str
    node: Node


@runtime_checkable
class GrowingEngine(Protocol):
    """What only some engines can do: nodes added and removed by hand."""

    async def add_node(self, node: LocalNode) -> None: ...

    async def remove_node(self, node_id: str) -> None: ...


@runtime_checkable
class AdoptingEngine(Protocol):
    """What only some engines can do: find what an earlier master started, also what the database knows nothing of."""

    def unclaimed(self) -> Sequence[str]: ...

    async def disown(self, resource_id: str) -> None: ...


class Cluster:
    def __init__(self, engines: Sequence[Engine]) -> None:
        self.engines = {engine.name: engine for engine in engines}
        self.reasons: dict[str, str] = {}  # allocation id -> what it waits for, as of the last pass
        self._first_seen: dict[str, datetime] = {}

    def nodes(self) -> list[PlacedNode]:
        return [PlacedNode(name, node) for name, engine in self.engines.items() for node in engine.nodes()]

    def seen_since(self, node_id: str, now: datetime) -> datetime:
        """When this process first saw the node."""
        return self._first_seen.setdefault(node_id, now)

    def growing_engine(self) -> GrowingEngine:
        for engine in self.engines.values():
            if isinstance(engine, GrowingEngine):
                return engine
        raise FailedPrecondition(
            f"none of the engines ({', '.join(self.engines)}) takes nodes by hand; add them to the engine's own cluster"
        )


def new_local_node(node_id: str, pool: str, slots: int) -> LocalNode:
    """A node of artificial slots for an engine that grows."""
    return LocalNode(node_id, pool, slots)


def attach(bus: Bus, cluster: Cluster) -> None:
    _clusters[bus] = cluster


def of(bus: Bus) -> Cluster:
    """The cluster of the master this bus belongs to."""
    cluster = _clusters.get(bus)
    if cluster is None:
        raise Unavailable("the master is still starting; try again in a moment")
    return cluster


_clusters: WeakKeyDictionary[Bus, Cluster] = WeakKeyDictionary()
