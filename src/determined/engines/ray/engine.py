"""The Ray engine: nodes and runners of a Ray cluster, known and moved through its bridge (wire/bridge.py).

It never speaks to Ray but through the dashboard's Jobs API, so the master needs no Ray and no Python of the cluster's.
"""

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace

from determined._version import __version__
from determined.engines.base import Engine
from determined.engines.model import EngineEvent, GoneReason, Launch, Node, NodesChanged, RunnerGone
from determined.engines.ray import resources
from determined.engines.ray.bridge_supervisor import BridgeSupervisor, Home
from determined.engines.ray.config import RayManager, RayPool
from determined.engines.ray.node_backoff import NodeBackoff
from determined.engines.ray.runner_table import RunnerTable
from determined.errors import Unavailable
from determined.wire.bridge import (
    BridgedNode,
    BridgedRunner,
    Enrolment,
    EnrolRequest,
    Message,
    RunnerState,
    Sealed,
    View,
    WantedRunner,
    Wishes,
    seal,
    unseal,
)
from determined.wire.claim import Order

logger = logging.getLogger(__name__)

_STEP_SECONDS = 1.0
_LONGEST_WAIT = 30.0
_FORGET_SECONDS = 5.0
# Runners that nobody asks for are ended when the master has had this long, and has looked this often at its rows.
_CLAIM_SECONDS, _CLAIM_PASSES = 60.0, 10


class RayEngine(Engine):
    """Engine of detached actors in a Ray cluster; it believes the newest bridge and asks it again and again.

    Args:
        name: of the resource manager.
        home: who and where the master is.
        settings: the manager's own.
        pools: in the order of the config; a node belongs to the first that takes it.
    """

    def __init__(self, name: str, home: Home, settings: RayManager, pools: Sequence[RayPool]) -> None:
        self.name = name
        self._home, self._settings = home, settings
        self._pools = {pool.name: pool for pool in pools}
        self._runners = RunnerTable()
        self._ray_nodes: dict[str, BridgedNode] = {}
        self._away = True  # nothing is offered
        self._offered: list[Node] = []  # as reported last
        self._node_backoff = NodeBackoff()
        self._needs: dict[str, dict[str, float]] = {}  # of runners that we began
        self._queued: dict[str, list[int]] = {}
        self._passes = 0
        self._life = secrets.token_hex(8)
        self._number = 1  # of our wishes
        self._news = asyncio.Event()
        self._viewed: tuple[str, int] = ("", -1)  # job and number of the newest view
        self._last_message_at = self._first_at = 0.0
        self._first = asyncio.Event()
        self._events: asyncio.Queue[EngineEvent | None] = asyncio.Queue()
        self._supervisor: BridgeSupervisor | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        self._last_message_at = time.monotonic()
        self._supervisor = BridgeSupervisor(self.name, self._home, self._settings, time.monotonic)
        self._tasks = [
            asyncio.create_task(self._supervisor.run(), name=f"{self.name}-bridge-supervisor"),
            asyncio.create_task(self._watch(), name=f"{self.name}-silence"),
        ]

    async def close(self) -> None:
        if self._supervisor is None:
            return
        self._supervisor = None
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self._touch()
        self._events.put_nowait(None)

    def nodes(self) -> Sequence[Node]:
        if self._away:
            return []
        now = time.monotonic()
        pools = list(self._pools.values())
        usable = (
            n for n in self._ray_nodes.values() if not n.draining and not self._node_backoff.is_backing_off(n.name, now)
        )
        placed = ((node, resources.pool_of(node, pools)) for node in usable)
        return [
            resources.offered(node, pool, self._runners.slots_on(node.name), __version__)
            for node, pool in placed
            if pool is not None
        ]

    async def start(self, launch: Launch) -> None:
        resource_id = launch.resource_id
        if self._supervisor is None:
            raise Unavailable(f"engine {self.name} is not open")
        if resource_id in self._runners.gone or resource_id in self._runners.wanted:
            return
        await self._await_first(self._settings.bridge_silence)
        if resource_id not in self._runners.reported:
            self._needs[resource_id] = self._needed_by(launch)
        self._tell(self._runners.want(launch))
        self._touch()

    async def kill(self, resource_id: str, *, force: bool) -> None:
        self._runners.end(resource_id, force=force)
        self._touch()

    async def forget(self, resource_id: str) -> None:
        """Forget a runner, and wait a moment until the bridge has: a master that stops now would hear of it again."""
        self._needs.pop(resource_id, None)
        self._runners.forget(resource_id)
        if resource_id not in self._runners.reported:
            return
        self._touch()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FORGET_SECONDS):
                while resource_id in self._runners.reported and not self._away:
                    await self._news.wait()

    async def running(self) -> Sequence[str]:
        await self._await_first(self._settings.bridge_silence)
        return self._runners.alive()

    async def events(self) -> AsyncIterator[EngineEvent]:
        while (event := await self._events.get()) is not None:
            yield event

    def demand(self, pool: str, slots: Sequence[int]) -> None:
        """Set the sizes of what waits in a pool, for the autoscaler."""
        self._passes += 1
        if pool in self._pools and list(slots) != self._queued.get(pool, []):
            self._queued[pool] = list(slots)
            self._touch()

    def possible_sizes(self, pool: str) -> Sequence[int] | None:
        """Return the slots of every node that the pool has, whoever uses it, and of those that may still come.

        None when no bridge has reported any yet.
        """
        if not self._first.is_set():
            return None
        return resources.possible_sizes(self._ray_nodes.values(), self._pools[pool], list(self._pools.values()))

    def enrol(self, request: EnrolRequest) -> Enrolment:
        """Enrol a bridge that begins. Raises what the supervisor raises."""
        return self._open_supervisor().enrol(request)

    async def exchange(self, sealed: Sealed) -> Sealed:
        """Handle one message of a bridge and return our wishes.

        Raises Unauthenticated for a message that is not sealed by its key.
        """
        supervisor = self._open_supervisor()
        key = supervisor.key(sealed.job)
        message = unseal(key, sealed, Message, supervisor.address)
        if not supervisor.record_message(sealed.job):
            return seal(key, sealed.job, Wishes(answers=message.number, retire=True), supervisor.address)
        if message.view is not None and (sealed.job != self._viewed[0] or message.number > self._viewed[1]):
            self._viewed = (sealed.job, message.number)
            self._take_view(message.view)
        elif message.view is None and message.known == (self._life, self._number):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(message.wait_seconds, _LONGEST_WAIT)):
                    await self._news.wait()
        return seal(key, sealed.job, self._wishes(message.number), supervisor.address)

    def wake(self) -> None:
        """Answer whoever waits in `exchange`."""
        self._news.set()
        self._news = asyncio.Event()

    @property
    def problem(self) -> str | None:
        """Problem that keeps the bridge from us, and what to do; None while it answers."""
        if self._first.is_set() or self._supervisor is None:
            return self._supervisor.problem if self._supervisor else None
        return self._supervisor.problem or "no bridge has reported from the Ray cluster yet"

    def _open_supervisor(self) -> BridgeSupervisor:
        if self._supervisor is None:
            raise Unavailable(f"engine {self.name} is not open")
        return self._supervisor

    async def _await_first(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._first.wait()
        except TimeoutError as e:
            raise Unavailable(
                f"no bridge to the Ray cluster since {seconds:.0f} s: {self.problem or 'it says nothing'}"
            ) from e

    def _needed_by(self, launch: Launch) -> dict[str, float]:
        """Return the resources that a launch holds in Ray. Raises Unavailable when it cannot begin."""
        if launch.begun:
            raise Unavailable(f"it was begun, but Ray has no actor {launch.resource_id} any more")
        pool = self._pool_on(launch.node_id)
        if pool is None:
            raise Unavailable(f"node '{launch.node_id}' does not exist; the nodes are {sorted(self._ray_nodes)}")
        return resources.needed(pool, len(launch.slot_ids))

    def _take_view(self, view: View) -> None:
        now = time.monotonic()
        self._last_message_at, self._away = now, False
        self._ray_nodes = {node.name: node for node in view.nodes}
        before, forgotten, ending = self._runners.reported, self._runners.to_forget(), set(self._runners.ending)
        events = self._runners.take_view(view)
        self._tell(event for event in events if event.resource_id in ending)
        self._tell(self._back_off_nodes(view, before, [e for e in events if e.resource_id not in ending], now))
        if not self._first.is_set():
            self._first_at, self._passes = now, 0
            self._first.set()
        self._drop_strangers(now)
        self._tell_nodes()
        if not set(self._runners.to_forget()) <= set(forgotten):
            self._touch()
        elif before.keys() != self._runners.reported.keys():
            self.wake()

    def _back_off_nodes(
        self, view: View, before: Mapping[str, BridgedRunner], events: Sequence[RunnerGone], now: float
    ) -> Iterable[RunnerGone]:
        """Avoid a node for a while after a runner could not begin there; a runner that begins clears that."""
        for runner in view.runners:
            known = before.get(runner.resource_id)
            if runner.state is RunnerState.RUNNING and (known is None or known.state is not RunnerState.RUNNING):
                self._node_backoff.succeed(runner.node)
        where = {runner.resource_id: runner.node for runner in view.runners}
        for event in events:
            node = where.get(event.resource_id)
            if event.reason is not GoneReason.NOT_STARTED or not node:
                yield event
                continue
            seconds = self._node_backoff.fail(node, now)
            logger.warning("%s: nothing starts on %s: %s; not used for %.0f s", self.name, node, event.detail, seconds)
            yield replace(event, detail=f"{event.detail}; the node is not used for {seconds:.0f} s")

    def _tell_nodes(self) -> None:
        nodes = list(self.nodes())
        if nodes != self._offered:
            self._offered = nodes
            self._events.put_nowait(NodesChanged())

    def _drop_strangers(self, now: float) -> None:
        """End runners that nobody claimed: those with a row are claimed in the first passes of a master's life."""
        if now - self._first_at < _CLAIM_SECONDS or self._passes < _CLAIM_PASSES:
            return
        for resource_id in self._runners.strangers():
            logger.warning("%s: the database wants nothing of this runner; it is ended", resource_id)
            self._runners.forget(resource_id)
            self._touch()

    def _wishes(self, answers: int) -> Wishes:
        return Wishes(
            answers=answers,
            version=(self._life, self._number),
            wanted=[self._wanted(launch) for launch in self._runners.wanted.values()],
            end=self._runners.end_wishes(),
            forget=self._runners.to_forget(),
            start_seconds=self._settings.start_timeout,
            bundles=self._bundles(),
        )

    def _wanted(self, launch: Launch) -> WantedRunner:
        order = Order(
            master_url=launch.master_url,
            allocation_id=launch.allocation_id,
            ticket=launch.ticket,
            rank=launch.rank,
            master_cert=self._home.cert,
            master_cert_name=launch.master_cert_name,
            run_root=self._settings.run_root,
        )
        return WantedRunner(
            resource_id=launch.resource_id,
            node=launch.node_id,
            order=order,
            resources=self._needs.get(launch.resource_id, {}),
            begun=launch.begun,
        )

    def _pool_on(self, node_id: str) -> RayPool | None:
        node = self._ray_nodes.get(node_id)
        return resources.pool_of(node, self._pools.values()) if node else None

    def _bundles(self) -> list[dict[str, float]] | None:
        """Return what runs and waits in the pools that can grow; None where none can.

        Ray has one such request for all of its users, so we make none without need.
        """
        if not any(pool.max_nodes for pool in self._pools.values()):
            return None
        bundles = []
        for launch in self._runners.wanted.values():
            pool = self._pool_on(launch.node_id)
            if pool is not None and pool.max_nodes and launch.slot_ids:
                bundles.append(resources.marked(pool, resources.needed(pool, len(launch.slot_ids))))
        for name, queued in self._queued.items():
            pool = self._pools[name]
            if pool.max_nodes:
                bundles += resources.bundles(pool, queued, max(self.possible_sizes(name) or (), default=0))
        return bundles

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_STEP_SECONDS)
            silent = time.monotonic() - self._last_message_at
            if not self._away and silent > self._settings.bridge_grace:
                logger.warning("%s: no word from the bridge for %.0f s; its nodes are not used", self.name, silent)
                self._away = True
            self._tell_nodes()
            if silent > self._settings.bridge_silence and self._runners.wanted:
                why = f"no word from the Ray cluster for {silent:.0f} s"
                self._tell(self._runners.lose(self._runners.wanted, why))

    def _tell(self, events: Iterable[RunnerGone]) -> None:
        for event in events:
            self._events.put_nowait(event)

    def _touch(self) -> None:
        """Mark our wishes as changed."""
        self._number += 1
        self.wake()
