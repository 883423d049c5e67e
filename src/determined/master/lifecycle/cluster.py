"""State of the cluster that this process keeps besides the database: engines, their nodes, and why queued work waits.

One `Cluster` belongs to one master; services find it by the master's bus. Everything in it can be lost and built again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from determined.engines.base import Engine
from determined.engines.local.engine import LocalNode
from determined.engines.model import Device, Node
from determined.errors import FailedPrecondition, NotFound, Unavailable
from determined.master.bus import Bus
from determined.wire.bridge import Enrolment, EnrolRequest, Sealed


@dataclass(frozen=True, slots=True)
class PlacedNode:
    """A node and the engine it belongs to."""

    engine: str
    node: Node


@runtime_checkable
class GrowingEngine(Protocol):
    """Engine to which nodes can be added, and removed, by hand; only some engines have them."""

    async def add_node(self, node: LocalNode) -> None: ...

    async def remove_node(self, node_id: str) -> None: ...


@runtime_checkable
class AdoptingEngine(Protocol):
    """Engine that finds what an earlier master started, also what the database knows nothing of. Only some can."""

    def unclaimed(self) -> Sequence[str]: ...

    async def disown(self, resource_id: str) -> None: ...


@runtime_checkable
class PlacingEngine(Protocol):
    """Engine that chooses the nodes itself. Work goes to it as soon as it is queued. Only some engines do this."""

    kind: str  # the section of a config with what a submitter says to it alone
    device: Device  # what a slot of its pools is

    def spread(self, pool: str, slots: int, options: Mapping[str, object], *, single_node: bool) -> list[int]:
        """Return the slots on each node, one entry a node. Raises InvalidArgument, naming a size that can be had.

        Alone of an engine's methods it is called in database threads too, in the transaction that hands work over: it
        looks only at what is replaced as a whole.
        """

    def waiting(self) -> Mapping[str, str]:
        """Return what each allocation that it has not begun waits for, in its own words."""


@runtime_checkable
class ElasticEngine(Protocol):
    """Engine that gets more nodes when it knows what is queued. Only some engines can do this."""

    def demand(self, pool: str, slots: Sequence[int]) -> None:
        """Take the sizes of everything that waits in a pool, told on every pass."""

    def possible_sizes(self, pool: str) -> Sequence[int] | None:
        """Slots of every node that the pool has, whoever uses it now, and of those that may still come; None when
        nothing is known yet."""


@runtime_checkable
class BridgedEngine(Protocol):
    """Engine that reaches its cluster through a bridge there, which talks to us over HTTP. Only some do this."""

    def enrol(self, request: EnrolRequest) -> Enrolment: ...

    async def exchange(self, sealed: Sealed) -> Sealed: ...

    def wake(self) -> None:
        """Answer whoever waits in `exchange`."""

    @property
    def problem(self) -> str | None:
        """Problem that keeps the bridge from us, and what to do; None while it answers."""


class Cluster:
    """Engines of the master. `owner`: pool -> name of the engine it belongs to, where the config says so."""

    def __init__(self, engines: Sequence[Engine], owner: Mapping[str, str] | None = None) -> None:
        self.engines = {engine.name: engine for engine in engines}
        self._owner = dict(owner or {})
        self.reasons: dict[str, str] = {}  # allocation id -> what it waits for, as of the last pass
        # Held by a scheduling pass, which gives work to the nodes it saw at its beginning: none is removed meanwhile.
        self.passing = asyncio.Lock()
        self._first_seen: dict[str, datetime] = {}

    def nodes(self) -> list[PlacedNode]:
        """Return the nodes, in the event loop only, as everything of engines; a transaction is handed the result."""
        return [PlacedNode(name, node) for name, engine in self.engines.items() for node in engine.nodes()]

    def placing(self, pool: str) -> tuple[str, PlacingEngine] | None:
        """Return the engine that chooses the nodes for this pool, with its name; None where that is ours to do."""
        placing = {name: engine for name, engine in self.engines.items() if isinstance(engine, PlacingEngine)}
        name = self._owner.get(pool, "")
        return (name, placing[name]) if name in placing else None

    def waiting(self) -> dict[str, str]:
        """Return what allocations wait for that an engine has been handed and has not begun."""
        reasons: dict[str, str] = {}
        for engine in self.engines.values():
            if isinstance(engine, PlacingEngine):
                reasons.update(engine.waiting())
        return reasons

    def with_problems(self, reasons: Mapping[str, str]) -> dict[str, str]:
        """Return the wait reasons; where a pool has no node, with the problem of its engine."""
        all_reasons = dict(reasons)
        for pool, name in self._owner.items():
            engine: object = self.engines.get(name)
            problem = engine.problem if isinstance(engine, BridgedEngine) else None
            if problem:
                nodeless = f"pool '{pool}' has no enabled node"
                all_reasons |= {
                    key: f"{text}: {problem}" for key, text in all_reasons.items() if text.endswith(nodeless)
                }
        return all_reasons

    def tell_demand(self, queued: Mapping[str, Sequence[int]]) -> None:
        """Tell the demand by pool to the engines that can get more nodes."""
        elastic = {name: engine for name, engine in self.engines.items() if isinstance(engine, ElasticEngine)}
        for pool, name in self._owner.items():
            if name in elastic:
                elastic[name].demand(pool, queued.get(pool, ()))

    def elastic(self, pool: str) -> ElasticEngine | None:
        """Return the engine of this pool, where it may have other nodes than those that it offers now."""
        engine = self.engines.get(self._owner.get(pool, ""))
        return engine if isinstance(engine, ElasticEngine) else None

    def grows(self, pool: str) -> bool:
        """Return whether whoever starts the master may offer more slots in this pool."""
        owner = self._owner.get(pool)
        engines = self.engines.values() if owner is None else filter(None, [self.engines.get(owner)])
        return any(isinstance(engine, GrowingEngine) for engine in engines)

    def bridged(self, name: str) -> BridgedEngine:
        engine: object = self.engines.get(name)
        if isinstance(engine, BridgedEngine):
            return engine
        raise NotFound(f"no engine '{name}' with a bridge is part of this master")

    def note_nodes(self, now: datetime) -> None:
        """Remember since when each node is offered; one that was gone meanwhile counts anew."""
        offered = {placed.node.id for placed in self.nodes()}
        self._first_seen = {node_id: self._first_seen.get(node_id, now) for node_id in offered}

    def seen_since(self, node_id: str, now: datetime) -> datetime:
        """Return when a scheduling pass first saw the node; `now` for one that came after the last pass."""
        return self._first_seen.get(node_id, now)

    def growing_engine(self) -> GrowingEngine:
        for engine in self.engines.values():
            if isinstance(engine, GrowingEngine):
                return engine
        raise FailedPrecondition(
            f"none of the engines ({', '.join(self.engines)}) takes nodes by hand; add them to the engine's own cluster"
        )


def new_local_node(node_id: str, pool: str, slots: int) -> LocalNode:
    """Return a node of artificial slots for an engine that grows."""
    return LocalNode(node_id, pool, slots)


def attach(bus: Bus, cluster: Cluster) -> None:
    _clusters[bus] = cluster


def of(bus: Bus) -> Cluster:
    """Return the cluster of the master this bus belongs to."""
    cluster = _clusters.get(bus)
    if cluster is None:
        raise Unavailable("the master is still starting; try again in a moment")
    return cluster


_clusters: WeakKeyDictionary[Bus, Cluster] = WeakKeyDictionary()
