"""Allocations as their tasks see them: signals, rendezvous, readiness, what to run."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from weakref import WeakKeyDictionary

from msgspec import to_builtins
from sqlalchemy import Connection

from determined.errors import Conflict, FailedPrecondition, Gone, NotFound, Unavailable
from determined.master.bus import Bus
from determined.master.context import MasterContext
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import runner as runners
from determined.master.db.rows.allocations import Allocation as AllocationRow
from determined.master.db.rows.allocations import Runner
from determined.master.lifecycle import allocation as lifecycle
from determined.master.lifecycle import spec, topics
from determined.master.lifecycle.states import AllocationState as Stored
from determined.master.services import all_gather as rounds_of_peers
from determined.master.services import long_poll, task_settings
from determined.wire.allocation import (
    AcceleratorData,
    Allocation,
    AllocationAllGatherRequest,
    AllocationState,
    NotifyContainerRunningRequest,
    RendezvousInfo,
)
from determined.wire.codec import rfc3339, rfc3339_or_none
from determined.wire.report import RunnerSignals, TaskSpec

_RENDEZVOUS_SECONDS = 60.0
_REREAD_SECONDS = 60.0  # as long as a poll of a runner: hundreds of idle ones each read once, and wait for a hint
_HINT_AFTER = timedelta(minutes=10)
_GATHER_RECHECK_SECONDS = 2.0  # how soon a waiting peer notices that its allocation ended
_waiting: WeakKeyDictionary[Bus, set[str]] = WeakKeyDictionary()  # resources with an open call for rendezvous
_SHOWN = {Stored.PENDING: AllocationState.QUEUED, Stored.ASSIGNED: AllocationState.QUEUED}


def to_wire(row: AllocationRow) -> Allocation:
    return Allocation(
        allocation_id=row.id,
        task_id=row.task_id,
        state=_SHOWN.get(Stored(row.state)) or AllocationState(f"STATE_{row.state}"),
        slots=row.slots,
        is_ready=row.ready_at is not None,
        start_time=rfc3339(row.started_at or row.requested_at),
        end_time=rfc3339_or_none(row.ended_at),
        exit_reason=row.exit_reason if row.ended_at else None,
        status_code=row.exit_code,
    )


async def get(ctx: MasterContext, allocation_id: str) -> Allocation:
    return to_wire(await ctx.db.read(lambda conn: allocations.get(conn, allocation_id)))


async def preemption_signal(ctx: MasterContext, allocation_id: str, timeout_seconds: float) -> bool:
    """Return True as soon as the allocation is asked to leave (or is over), False when the time is up."""

    def read(conn: Connection) -> AllocationRow:
        row = allocations.get(conn, allocation_id)
        if not row.preemptible:
            raise FailedPrecondition(f"allocation {allocation_id} is not preemptible; it is only ever killed")
        return row

    def asked(row: AllocationRow) -> bool:
        return row.preempt_at is not None or row.kill_at is not None or row.ended_at is not None

    seconds = long_poll.checked_timeout(timeout_seconds)
    return asked(await long_poll.poll(ctx, f"allocation:{allocation_id}", read, asked, seconds))


async def runner_signals(
    ctx: MasterContext, allocation_id: str, resource_id: str, known: RunnerSignals, timeout_seconds: float
) -> RunnerSignals:
    """Return what a runner must do, as soon as it differs from what it knows. Raises Gone for a stale runner."""

    def read(conn: Connection) -> RunnerSignals:
        runner = _runner(conn, allocation_id, resource_id)
        row = allocations.get(conn, allocation_id)
        if runner.drained:
            raise Gone(f"resources {resource_id} of allocation {allocation_id} are over; end the task")
        return RunnerSignals(
            preempt=row.preempt_at is not None,
            kill=row.kill_at is not None,
            peer_failed=row.kill_reason == lifecycle.PEER_FAILED,
            ended=row.ended_at is not None,
            stacks=row.stacks_requested,
            shell=row.shell_requested,
        )

    def differs(now: RunnerSignals) -> bool:
        told = (known.preempt, known.kill, known.stacks, known.shell)
        return now.ended or (now.preempt, now.kill, now.stacks, now.shell) != told

    seconds = long_poll.checked_timeout(timeout_seconds)
    if known.kill:
        await _confirm_kill(ctx, allocation_id, resource_id)
    topic = f"allocation:{allocation_id}"
    return await long_poll.poll(ctx, topic, read, differs, seconds, reread_seconds=_REREAD_SECONDS)


async def _confirm_kill(ctx: MasterContext, allocation_id: str, resource_id: str) -> None:
    runner = await ctx.db.read(lambda conn: _runner(conn, allocation_id, resource_id))
    if runner.state not in (Stored.TERMINATING, Stored.TERMINATED):
        await ctx.db.write(lambda conn: lifecycle.confirm_kill(conn, ctx.clock.now(), resource_id))


async def task_spec(ctx: MasterContext, allocation_id: str, resource_id: str, username: str) -> TaskSpec:
    def read(conn: Connection) -> TaskSpec:
        _runner(conn, allocation_id, resource_id)
        pool = allocations.get(conn, allocation_id).pool
        cluster = spec.Cluster.of(ctx.config, ctx.cluster, allocation_id, pool)
        built = spec.build(conn, resource_id, username, cluster)
        built.settings = task_settings.of_task(conn, ctx, built.task_id)
        return built

    return await ctx.db.read(read)


async def rendezvous(
    ctx: MasterContext, allocation_id: str, resource_id: str, left: Callable[[], bool] = lambda: False
) -> RendezvousInfo:
    """Block until every runner of the allocation has asked. Asking again later is harmless: runners retry.

    `left` says that the caller hung up; whoever finds that out wakes us on the allocation's topic.

    Raises:
        Conflict: another call for the same resources still waits.
    """
    await ctx.db.read(lambda conn: _runner(conn, allocation_id, resource_id))
    waiting = _waiting.setdefault(ctx.bus, set())
    if resource_id in waiting:
        raise Conflict(f"resources {resource_id} wait for rendezvous already, by another call; make one at a time")
    waiting.add(resource_id)
    try:
        await _meet(ctx, allocation_id, resource_id, left)
    finally:
        waiting.discard(resource_id)
    return await ctx.db.read(lambda conn: _rendezvous_info(conn, allocation_id, resource_id))


async def _meet(ctx: MasterContext, allocation_id: str, resource_id: str, left: Callable[[], bool]) -> None:
    hint_at: datetime | None = ctx.clock.now() + _HINT_AFTER
    async with ctx.bus.listen(f"allocation:{allocation_id}") as listener:
        while not await ctx.db.write(lambda conn: lifecycle.joined(conn, ctx.clock.now(), resource_id)):
            if hint_at is not None and ctx.clock.now() >= hint_at:
                hint_at = None
                await ctx.db.write(lambda conn: lifecycle.hint_missing(conn, ctx.clock.now(), allocation_id))
            if ctx.bus.closed:
                raise Unavailable("the master is stopping; ask for rendezvous again")
            if left():
                raise Unavailable(f"whoever asked for the rendezvous of resources {resource_id} has left")
            await listener.wait(_RENDEZVOUS_SECONDS)
    # Only the last one to come has news for the others; to wake them (and ourselves) earlier would be a busy loop.
    ctx.bus.publish(f"allocation:{allocation_id}")


async def all_gather(
    ctx: MasterContext, allocation_id: str, request: AllocationAllGatherRequest
) -> list[rounds_of_peers.Data]:
    """Block until all peers have posted; then the allocation is ready, unless they met about a topic of their own."""
    peer, peers = request.request_uuid or "", request.num_peers or 1
    what = f"all_gather {request.topic}" if request.topic else "all_gather"
    everything = await _gather(ctx, allocation_id, what, peer=peer, peers=peers, data=request.data)
    if not request.topic:
        await ready(ctx, allocation_id)
    return everything


async def container_running(
    ctx: MasterContext, allocation_id: str, request: NotifyContainerRunningRequest
) -> list[rounds_of_peers.Data]:
    peer, peers = request.request_uuid or str(request.rank or 0), request.num_peers or 1
    return await _gather(ctx, allocation_id, "running", peer=peer, peers=peers, data=request.data)


async def ready(ctx: MasterContext, allocation_id: str) -> None:
    await _change(ctx, allocation_id, lambda conn, now: lifecycle.ready(conn, now, allocation_id))


async def waiting(ctx: MasterContext, allocation_id: str) -> None:
    await _change(ctx, allocation_id, lambda conn, now: lifecycle.waiting(conn, now, allocation_id))


async def ack_preemption(ctx: MasterContext, allocation_id: str) -> None:
    await _change(ctx, allocation_id, lambda conn, now: lifecycle.preempt_acked(conn, now, allocation_id))


async def pending_preemption(ctx: MasterContext, allocation_id: str) -> None:
    """Terminate, as it asks, a task that was told from outside that its machine goes away."""

    def ask(conn: Connection, now: datetime) -> None:
        lifecycle.request_preemption(conn, now, allocation_id, lifecycle.HOST_WISH)

    await _change(ctx, allocation_id, ask)


async def mark_daemon(ctx: MasterContext, allocation_id: str, resource_id: str) -> None:
    def mark(conn: Connection, now: datetime) -> None:
        _runner(conn, allocation_id, resource_id)
        lifecycle.mark_daemon(conn, now, resource_id)

    await _change(ctx, allocation_id, mark)


async def set_accelerators(ctx: MasterContext, allocation_id: str, given: AcceleratorData) -> None:
    plain = to_builtins(given)

    def write(conn: Connection, now: datetime) -> None:
        stored = allocations.get(conn, allocation_id).accelerators or []
        others = [one for one in stored if one.get("containerId") != given.container_id]
        allocations.update_row(conn, allocation_id, {"accelerators": [*others, plain]})

    await _change(ctx, allocation_id, write)


async def set_proxy_address(ctx: MasterContext, allocation_id: str, address: str | None) -> None:
    def write(conn: Connection, now: datetime) -> None:
        allocations.get(conn, allocation_id)
        allocations.update_row(conn, allocation_id, {"proxy_address": address})

    await _change(ctx, allocation_id, write)


async def _gather(
    ctx: MasterContext, allocation_id: str, what: str, *, peer: str, peers: int, data: rounds_of_peers.Data
) -> list[rounds_of_peers.Data]:
    rounds = rounds_of_peers.of(ctx.bus)
    call: asyncio.Future[list[rounds_of_peers.Data]] | None = None
    while True:
        row = await ctx.db.read(lambda conn: allocations.get(conn, allocation_id))
        if row.ended_at is not None:
            rounds.forget(allocation_id)
            raise Gone(f"allocation {allocation_id}: task terminated")
        if ctx.bus.closed:
            raise Unavailable("the master is stopping; ask again")
        if call is None:
            call = rounds.join(allocation_id, what, peer, peers=peers, data=data)
        await asyncio.wait([call], timeout=_GATHER_RECHECK_SECONDS)
        if call.done():
            return call.result()


async def _change(ctx: MasterContext, allocation_id: str, change: Callable[[Connection, datetime], None]) -> None:
    def write(conn: Connection) -> list[str]:
        change(conn, ctx.clock.now())
        return topics.of_allocation(conn, allocation_id)

    ctx.bus.publish(*await ctx.db.write(write), topics.SCHEDULE)


def _runner(conn: Connection, allocation_id: str, resource_id: str) -> Runner:
    runner = runners.get(conn, resource_id)
    if runner.allocation_id != allocation_id:
        raise NotFound(f"resources {resource_id} are not of allocation {allocation_id}")
    return runner


def _rendezvous_info(conn: Connection, allocation_id: str, resource_id: str) -> RendezvousInfo:
    group = runners.of_allocation(conn, allocation_id)
    mine = next(r for r in group if r.resource_id == resource_id)
    return RendezvousInfo(
        addresses=[r.address or "127.0.0.1" for r in group],
        rank=mine.rank,
        slots=[len(r.slot_ids) for r in group],
    )
