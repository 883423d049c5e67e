"""The loop that makes the world follow the rows: schedule, hand runners to engines, kill, notice what is gone.

It remembers nothing that matters. A master killed at any instant starts again, derives the same work from the same rows
and goes on; there is no recovery code besides this.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from determined.engines.base import Engine
from determined.engines.model import EngineEvent, GoneReason, RunnerGone, RunnerNews
from determined.errors import AlreadyExists, FailedPrecondition, Unavailable
from determined.master import supervise
from determined.master.context import MasterContext
from determined.master.db.queries import cluster as cluster_rows
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import job as jobs
from determined.master.db.queries import node as nodes
from determined.master.db.queries import runner as runners
from determined.master.db.queries import submitted_task as submitted_tasks
from determined.master.lifecycle import allocation as allocation_lifecycle
from determined.master.lifecycle import cluster as clusters
from determined.master.lifecycle import experiment as experiment_lifecycle
from determined.master.lifecycle import scheduling, search_batches, submitted_task, topics
from determined.master.lifecycle.launching import Launcher
from determined.master.lifecycle.pools import pools_of
from determined.master.lifecycle.ports import PortChoice
from determined.master.lifecycle.queue_position import queue_position
from determined.master.lifecycle.scheduling import Pass, SchedulingInput, SentSignals
from determined.master.lifecycle.states import LIVE

logger = logging.getLogger(__name__)

HEARTBEAT = "heartbeat"
_HEARTBEAT_SECONDS = 5.0
_IDLE_SECONDS = 1.0  # the bus is a hint and may be lost: look at least this often
_REST_SECONDS = 0.02  # after a pass: changes come in bursts, and reports of many tasks wake us too
_REREAD_SECONDS = 5.0  # the rows are read again after this time even if nothing was written
_RETRY_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class _Look:
    """Look at the rows: when, after how many commits, with which nodes and pools, and what it found."""

    at: datetime
    commits: int
    world: SchedulingInput
    seen: Pass

    def still_holds(self, now: datetime, commits: int, world: SchedulingInput) -> bool:
        if (self.commits, self.world) != (commits, world) or self.seen.changes:
            return False
        # Deadlines to leave pass by themselves.
        leaving = any(signals.preempted or signals.killed for signals in self.seen.signals)
        return not leaving and timedelta(0) <= now - self.at < timedelta(seconds=_REREAD_SECONDS)


class Reconciler:
    """Reconciler of rows and engines, one per master. `open` opens the engines too; `close` leaves runners running."""

    def __init__(self, ctx: MasterContext, engines: Sequence[Engine]) -> None:
        self._ctx = ctx
        self._pools = pools_of(ctx.config)
        self._ports = PortChoice.of(ctx.cluster.cluster_id, ctx.config.reserved_ports)
        self._cluster = clusters.Cluster(engines, {name: pool.engine for name, pool in self._pools.items()})
        self._launcher = Launcher(ctx, self._cluster)
        self._tasks: list[asyncio.Task[None]] = []
        self._announced: frozenset[SentSignals] = frozenset()
        self._last_look: _Look | None = None

    async def open(self) -> None:
        for engine in self._cluster.engines.values():
            await engine.open()
            await self._disown_strangers(engine)
        await self._add_nodes()
        clusters.attach(self._ctx.bus, self._cluster)
        await self._ctx.db.write(self._fail_homeless)
        self._tasks = [
            *(supervise.spawn(self._follow(e), name=f"events of {e.name}") for e in self._cluster.engines.values()),
            supervise.spawn(self._loop(), name="reconciler"),
            supervise.spawn(search_batches.run(self._ctx), name="pieces of large searches"),
            supervise.repeat(self._beat, name="heartbeat", seconds=_HEARTBEAT_SECONDS),
        ]

    async def close(self) -> None:
        await supervise.stop(*self._tasks)
        await self._launcher.close()
        for engine in self._cluster.engines.values():
            await engine.close()

    async def step(self) -> None:
        """Do one pass; at most one at a time."""
        async with self._cluster.passing:
            await self._step()

    async def _step(self) -> None:
        now = self._ctx.clock.now()
        self._cluster.note_nodes(now)
        world = SchedulingInput(
            nodes=self._cluster.nodes(),
            pools=self._pools,
            launch_error=self._ctx.config.launch_error,
            ports=self._ports,
            placing={pool: found for pool in self._pools if (found := self._cluster.placing(pool)) is not None},
        )
        seen = await self._look(now, world)
        self._ctx.bus.publish(*seen.waiting_searches)
        if seen.changes:
            seen = await self._ctx.db.write(lambda conn: scheduling.act(conn, now, world))
            self._ctx.bus.publish(*seen.topics)
        self._cluster.reasons = {**self._cluster.with_problems(seen.reasons), **self._cluster.waiting()}
        self._cluster.tell_demand(seen.queued)
        self._announce(seen.signals)
        self._launcher.launch(seen.alive)
        self._launcher.enforce_kills(now, seen.alive)

    async def _look(self, now: datetime, world: SchedulingInput) -> Pass:
        """Read what the rows ask for, or return what the last look found while nothing can have changed it.

        Hundreds of idle tasks would otherwise be read every second.
        """
        last, commits = self._last_look, self._ctx.db.commits
        if last is not None and last.still_holds(now, commits, world):
            return last.seen
        seen = await self._ctx.db.read(lambda conn: scheduling.look(conn, now, world))
        self._last_look = _Look(now, commits, world, seen)
        return seen

    def _announce(self, signals: frozenset[SentSignals]) -> None:
        """Wake the long polls of tasks that were signalled since the last pass, whoever did it."""
        self._ctx.bus.publish(*(f"allocation:{s.allocation_id}" for s in signals - self._announced))
        self._announced = signals

    async def _loop(self) -> None:
        loop = asyncio.get_running_loop()
        async with self._ctx.bus.listen(topics.SCHEDULE) as listener:
            while not self._ctx.bus.closed:
                await self._guarded_step()
                rested = loop.time() + _REST_SECONDS
                await listener.wait(_IDLE_SECONDS)
                await asyncio.sleep(max(0.0, rested - loop.time()))

    async def _guarded_step(self) -> None:
        try:
            await self.step()
        except Unavailable as e:
            logger.warning("scheduling waits: %s", e.message)
        except Exception:
            # One bad pass must not stop scheduling for good; the next one derives everything again.
            logger.exception("a scheduling pass failed; the next one starts afresh")

    async def _follow(self, engine: Engine) -> None:
        async for event in engine.events():
            try:
                await self._handle(engine, event)
            except Exception:
                # Without this one bad event would deafen us to all later ones: their tasks would never end.
                logger.exception("%s: cannot handle %s", engine.name, event)

    async def _handle(self, engine: Engine, event: EngineEvent) -> None:
        """Write an event down; while the database is away, keep trying: the engine tells it only once."""
        if isinstance(event, RunnerNews):
            await self._pass_on(event)
            return
        while isinstance(event, RunnerGone):
            try:
                if event.reason == GoneReason.EXITED and await self._is_on_record(event.resource_id):
                    await engine.forget(event.resource_id)
                    return  # nobody has to hear of it: its exit was stored by its own report
                changed = await self._ctx.db.write(lambda conn: self._gone(conn, event))
            except Unavailable as e:
                logger.warning("%s: %s is gone, but: %s", engine.name, event.resource_id, e.message)
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            self._ctx.bus.publish(*changed)
            await engine.forget(event.resource_id)
            break
        self._ctx.bus.publish(topics.SCHEDULE)

    async def _pass_on(self, event: RunnerNews) -> None:
        def say(conn: Connection) -> list[str]:
            allocation_lifecycle.runner_news(conn, self._ctx.clock.now(), event.resource_id, event.text)
            return topics.of_runner(conn, event.resource_id)

        try:
            self._ctx.bus.publish(*await self._ctx.db.write(say))
        except Unavailable as e:
            logger.warning("%s: %s; its log lacks that, for: %s", event.resource_id, event.text, e.message)

    async def _is_on_record(self, resource_id: str) -> bool:
        runner = await self._ctx.db.read(lambda conn: runners.find(conn, resource_id))
        return runner is not None and runner.exited_at is not None and runner.drained

    def _gone(self, conn: Connection, event: RunnerGone) -> list[str]:
        now = self._ctx.clock.now()
        allocation_lifecycle.runner_gone(conn, now, event.resource_id, event.reason, event.detail)
        return topics.of_runner(conn, event.resource_id)

    async def _disown_strangers(self, engine: Engine) -> None:
        """Disown runners without a row (the database was replaced): they would wait for ever for their master."""
        if not isinstance(engine, clusters.AdoptingEngine):
            return
        unclaimed = engine.unclaimed()
        if not unclaimed:
            return
        known = await self._ctx.db.read(lambda conn: runners.known(conn, unclaimed))
        strangers = sorted(set(unclaimed) - known)
        for resource_id in strangers:
            logger.warning(
                "%s: the database knows nothing of this runner; it is ended and its directory kept under 'lost'",
                resource_id,
            )
        await asyncio.gather(*(engine.disown(resource_id) for resource_id in strangers))

    async def _add_nodes(self) -> None:
        """Nodes that somebody added by hand in an earlier life of this master."""
        for row in await self._ctx.db.read(nodes.added):
            node = clusters.new_local_node(row.node_id, row.pool, row.slots)
            try:
                await self._cluster.growing_engine().add_node(node)
            except (AlreadyExists, FailedPrecondition) as e:
                logger.warning("node %s was added by hand and cannot be offered now: %s", node.id, e.message)

    def _fail_homeless(self, conn: Connection) -> None:
        """Fail experiments, and end tasks, whose pool is no longer configured: they can never go on."""
        now = self._ctx.clock.now()
        for experiment in experiments.in_states(conn, sorted(LIVE)):
            pool = jobs.get(conn, experiment.job_id).pool
            if pool not in self._pools and not experiment.unmanaged:
                experiment_lifecycle.fail(conn, now, experiment.id, _homeless(pool))
        for task in submitted_tasks.live(conn):
            if task.pool not in self._pools:
                submitted_task.kill(conn, now, task.task_id, _homeless(task.pool))

    async def _beat(self) -> None:
        micros = queue_position(self._ctx.clock.now())
        await self._ctx.db.write(lambda conn: cluster_rows.put(conn, HEARTBEAT, int(micros)))


def _homeless(pool: str) -> str:
    return f"resource pool '{pool}' is not in the master's config any more"
