"""The hands of the reconciler: runners handed to their engines, kills sent and repeated.

It remembers only what it has done in this process, and may forget that: starting twice and killing twice are harmless.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.engines import registry
from determined.engines.base import Engine
from determined.engines.model import Container, Device, GoneReason, Launch
from determined.errors import FailedPrecondition, Unavailable
from determined.master import supervise
from determined.master.auth import allocation_token
from determined.master.config import MasterConfig
from determined.master.context import ClusterIdentity, MasterContext
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import runner as runners
from determined.master.db.queries.runner import AliveRunner
from determined.master.lifecycle import allocation as lifecycle
from determined.master.lifecycle import containers, engine_placed_pools, spec, topics
from determined.master.lifecycle.certificate import known_as
from determined.master.lifecycle.cluster import Cluster
from determined.master.lifecycle.identity import advertised_url, isolation_problem, run_as
from determined.master.lifecycle.pools import engine_type
from determined.master.lifecycle.states import AllocationState
from determined.wire.report import TaskSpec

logger = logging.getLogger(__name__)


_SMALL_CONTEXT = 256 * 1024  # bytes of a context directory that are handed over with the launch


class _DatabaseAway(Exception):
    """Failure to read what to start."""


@dataclass(slots=True)
class _Handed:
    """Runner in its engine's care."""

    starting: asyncio.Task[None]
    asked_to_end: bool = False
    forced_at: datetime | None = None


class Launcher:
    def __init__(self, ctx: MasterContext, cluster: Cluster) -> None:
        self._ctx = ctx
        self._cluster = cluster
        self._known_as = known_as(ctx.config)
        self._handed: dict[str, _Handed] = {}
        self._kills: set[asyncio.Task[None]] = set()

    def launch(self, alive: Sequence[AliveRunner]) -> None:
        """Hand every runner to its engine that this process has not handed over yet; forget those that are gone."""
        ids = {row.resource_id for row in alive}
        for resource_id in self._handed.keys() - ids:
            if self._handed[resource_id].starting.done():
                del self._handed[resource_id]
        for row in alive:
            if row.resource_id not in self._handed:
                work = self._start(row)
                task = supervise.spawn(work, name=f"start {row.resource_id}")
                self._handed[row.resource_id] = _Handed(task)

    def enforce_kills(self, now: datetime, alive: Sequence[AliveRunner]) -> None:
        """First ask the runner to end its task; half a minute after the request, kill it and repeat that."""
        for row in alive:
            handed = self._handed.get(row.resource_id)
            if row.kill_at is None or row.exited_at is not None or handed is None:
                continue
            if handed.starting.done():
                self._enforce(now, row, handed)

    async def close(self) -> None:
        """Forget everything. Runners go on; the next process hands them over again."""
        await supervise.stop(*(h.starting for h in self._handed.values()), *self._kills)
        self._handed.clear()

    def _enforce(self, now: datetime, row: AliveRunner, handed: _Handed) -> None:
        due = row.kill_at is not None and row.kill_at + lifecycle.FORCE_AFTER <= now
        if due and (handed.forced_at is None or handed.forced_at + lifecycle.FORCE_AFTER <= now):
            handed.forced_at = now
            self._kill(row, force=True)
        elif not due and not handed.asked_to_end:
            handed.asked_to_end = True
            self._kill(row, force=False)

    def _kill(self, row: AliveRunner, *, force: bool) -> None:
        engine = self._cluster.engines.get(row.engine)
        if engine is None:
            return
        work = engine.kill(row.resource_id, force=force)
        task = supervise.spawn(work, name=f"kill {row.resource_id}")
        self._kills.add(task)
        task.add_done_callback(self._kills.discard)

    async def _start(self, row: AliveRunner) -> None:
        resource_id = row.resource_id
        problem = isolation_problem(row, self._ctx.config, row.engine)
        if problem is not None and row.exited_at is None:
            await self._write(resource_id, lambda conn, now: lifecycle.refuse(conn, now, resource_id, problem))
            return
        try:
            engine = self._engine(row)
            await engine.start(await self._launch_of(row))
        except _DatabaseAway:
            # That says nothing about the runner, which may be alive and well: the next pass tries again.
            self._handed.pop(resource_id, None)
        except Unavailable as e:
            await self._not_started(resource_id, e.message)
        except FailedPrecondition as e:
            why = f"could not start: {e.message}"
            await self._write(resource_id, lambda conn, now: lifecycle.refuse(conn, now, resource_id, why))
        except Exception as e:
            # A defect of the engine: the runner counts as not started, so the task is tried again instead of hanging.
            logger.exception("%s: the engine failed to start this runner", resource_id)
            await self._not_started(resource_id, f"the engine failed: {e}")

    async def _not_started(self, resource_id: str, why: str) -> None:
        def gone(conn: Connection, now: datetime) -> None:
            lifecycle.runner_gone(conn, now, resource_id, GoneReason.NOT_STARTED, f"could not start: {why}")

        await self._write(resource_id, gone)

    async def _write(self, resource_id: str, change: Callable[[Connection, datetime], None]) -> None:
        def write(conn: Connection) -> list[str]:
            change(conn, self._ctx.clock.now())
            return topics.of_runner(conn, resource_id)

        try:
            changed = await self._ctx.db.write(write)
        except Unavailable:
            # Not written down, so it is as if it had not been tried: the next pass tries again.
            self._handed.pop(resource_id, None)
            return
        self._ctx.bus.publish(topics.SCHEDULE, *changed)

    def _engine(self, row: AliveRunner) -> Engine:
        engine = self._cluster.engines.get(row.engine)
        if engine is None:
            raise Unavailable(f"engine '{row.engine}' is no longer part of this master")
        return engine

    async def _launch_of(self, row: AliveRunner) -> Launch:
        config = self._ctx.config
        try:
            gang = await self._ctx.db.read(lambda conn: _gang(conn, row, config, self._ctx.cluster))
        except Unavailable as e:
            raise _DatabaseAway from e
        return Launch(
            allocation_id=row.allocation_id,
            resource_id=row.resource_id,
            container_id=row.container_id,
            node_id=row.node_id,
            rank=row.rank,
            slot_ids=tuple(row.slot_ids),
            device=Device(row.device),
            master_url=advertised_url(config),
            token=allocation_token.mint(self._ctx.cluster.secret, row.allocation_id),
            run_as=run_as(row, config),
            master_cert_file=self._known_as.file,
            master_cert_name=self._known_as.name,
            ticket=allocation_token.ticket(self._ctx.cluster.secret, row.allocation_id),
            size=gang.size,
            options=gang.options,
            container=gang.container,
            group=row.job_id if row.trial_id is not None else None,
            spec=gang.spec,
            context=gang.context,
            begun=_has_begun(row),
        )


@dataclass(frozen=True, slots=True)
class _Gang:
    """Runners of one allocation: how many, their submitter's options for the engine, and what one of them runs."""

    size: int
    options: JsonObject
    container: Container | None
    spec: TaskSpec | None = None
    context: bytes | None = None


def _gang(conn: Connection, row: AliveRunner, config: MasterConfig, identity: ClusterIdentity) -> _Gang:
    allocation = allocations.get(conn, row.allocation_id)
    kind = engine_type(config, allocation.pool)
    gang = _Gang(
        len(runners.of_allocation(conn, allocation.id)),
        engine_placed_pools.options_of(conn, allocation, kind),
        containers.container_of(conn, row, allocation, config),
    )
    if allocation.trial_id is None or _has_begun(row) or not registry.manager(kind).runs_here:
        return gang
    # The runner of a trial beside us is given what it would ask for first: two requests less for each trial.
    built = spec.build(
        conn, row.resource_id, row.username, spec.Cluster.of(config, identity, allocation.id, allocation.pool)
    )
    context = experiments.small_model_definition(conn, built.experiment_id or 0, _SMALL_CONTEXT)
    return replace(gang, spec=built, context=context)


def _has_begun(row: AliveRunner) -> bool:
    """Return whether a runner has reported anything: its first record is its phase, which moves the row."""
    return row.state != AllocationState.ASSIGNED
