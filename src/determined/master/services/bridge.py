"""Bridges of engines that live in other clusters: they enrol, and then exchange what they see for what we wish."""

from determined.master import supervise
from determined.master.bus import Listener
from determined.master.context import MasterContext
from determined.master.lifecycle import cluster as clusters
from determined.master.lifecycle.cluster import BridgedEngine
from determined.wire.bridge import Enrolment, EnrolRequest, Sealed

_STOPPING = "bridges"  # published by nobody: its listeners are woken when the master stops
_LONGEST_SECONDS = 60.0


async def enrol(ctx: MasterContext, name: str, request: EnrolRequest) -> Enrolment:
    return clusters.of(ctx.bus).bridged(name).enrol(request)


async def exchange(ctx: MasterContext, name: str, sealed: Sealed) -> Sealed:
    """Held until there is something to say, or the master stops."""
    engine = clusters.of(ctx.bus).bridged(name)
    async with ctx.bus.listen(_STOPPING) as listener:
        stopping = supervise.spawn(_wake_at_stop(listener, engine), name=f"stop of the bridge of {name}")
        try:
            return await engine.exchange(sealed)
        finally:
            await supervise.stop(stopping)


async def _wake_at_stop(listener: Listener, engine: BridgedEngine) -> None:
    await listener.wait(_LONGEST_SECONDS)
    engine.wake()
