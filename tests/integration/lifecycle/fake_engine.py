"""An engine in memory. The machine outlives the engine object, as real runners outlive a master."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from determined.engines.base import Engine
from determined.engines.local.engine import LocalNode
from determined.engines.model import (
    Device,
    EngineEvent,
    GoneReason,
    Launch,
    Node,
    NodesChanged,
    RunnerGone,
    RunnerNews,
    Slot,
)
from determined.errors import InvalidArgument, Unavailable


def make_node(node_id: str, slots: int, pool: str = "default") -> Node:
    return Node(node_id, pool, tuple(Slot(i, Device.CPU, f"{node_id}-{i}") for i in range(slots)))


@dataclass
class Machine:
    """What runs, whoever watches. `refuse` makes starts fail; `obey_kill` reports a killed runner's exit."""

    nodes: list[Node]
    alive: dict[str, Launch] = field(default_factory=dict)
    launched: list[Launch] = field(default_factory=list)  # first starts only
    kills: list[tuple[str, bool]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # runners that the next master finds
    waits: dict[str, str] = field(default_factory=dict)  # of a PlacingFake: allocation -> its own reason
    told: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)  # to an ElasticFake: pool, sizes
    refuse: str | None = None
    obey_kill: Callable[[str, bool], Awaitable[None]] | None = None


class FakeEngine(Engine):
    name = "fake"

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.starts: list[str] = []
        self.forgotten: list[str] = []
        self.disowned: list[str] = []
        self._events: asyncio.Queue[EngineEvent] = asyncio.Queue()

    async def open(self) -> None:
        return None

    async def close(self) -> None:
        return None

    def nodes(self) -> Sequence[Node]:
        asyncio.get_running_loop()  # raises in any other thread: engines are promised that only the loop calls them
        return list(self.machine.nodes)

    async def start(self, launch: Launch) -> None:
        self.starts.append(launch.resource_id)
        await asyncio.sleep(0)
        if self.machine.refuse is not None:
            raise Unavailable(self.machine.refuse)
        known = {known.resource_id for known in self.machine.launched}
        if launch.resource_id in known:
            if launch.resource_id not in self.machine.alive:
                self._events.put_nowait(RunnerGone(launch.resource_id, GoneReason.LOST))
            return
        self.machine.launched.append(launch)
        self.machine.alive[launch.resource_id] = launch

    async def kill(self, resource_id: str, *, force: bool) -> None:
        self.machine.kills.append((resource_id, force))
        if resource_id in self.machine.alive and self.machine.obey_kill is not None:
            await self.machine.obey_kill(resource_id, force)

    async def forget(self, resource_id: str) -> None:
        self.forgotten.append(resource_id)

    def unclaimed(self) -> Sequence[str]:
        return self.machine.left

    async def disown(self, resource_id: str) -> None:
        self.disowned.append(resource_id)

    async def running(self) -> Sequence[str]:
        return list(self.machine.alive)

    async def events(self) -> AsyncIterator[EngineEvent]:
        while True:
            yield await self._events.get()

    def lose(self, resource_id: str, reason: GoneReason = GoneReason.LOST) -> None:
        self.machine.alive.pop(resource_id, None)
        self._events.put_nowait(RunnerGone(resource_id, reason, "the machine burnt down"))

    def say(self, resource_id: str, text: str) -> None:
        self._events.put_nowait(RunnerNews(resource_id, text))

    async def add_node(self, node: LocalNode) -> None:
        self.machine.nodes.append(make_node(node.id, node.slots or 0, node.pool))
        self._events.put_nowait(NodesChanged())

    async def remove_node(self, node_id: str) -> None:
        self.machine.nodes = [n for n in self.machine.nodes if n.id != node_id]
        self._events.put_nowait(NodesChanged())


class PlacingFake(FakeEngine):
    """Chooses nodes itself: as many of `per_node` slots (an option of that name, else 2) as it takes."""

    kind = "slurm"
    device = Device.CUDA

    def spread(self, pool: str, slots: int, options: Mapping[str, Any], *, single_node: bool) -> list[int]:
        per_node = options.get("slots_per_node") or 2
        if single_node and slots > per_node:
            raise InvalidArgument(f"slots={slots} exceed one node of pool '{pool}' ({per_node} slots)")
        if slots % per_node and slots > per_node:
            raise InvalidArgument(
                f"slots={slots} fill no whole nodes of {per_node}; ask for {slots + slots % per_node}"
            )
        return [min(slots, per_node)] * max(1, slots // per_node)

    def waiting(self) -> Mapping[str, str]:
        return self.machine.waits


class ElasticFake(FakeEngine):
    def demand(self, pool: str, slots: Sequence[int]) -> None:
        self.machine.told.append((pool, tuple(slots)))

    def possible_sizes(self, pool: str) -> Sequence[int] | None:
        return [4, 4]
