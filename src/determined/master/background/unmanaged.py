"""Ends unmanaged trials whose client has fallen silent."""

from datetime import datetime

from determined.master.context import MasterContext
from determined.master.lifecycle import unmanaged as lifecycle

PERIOD_S = 30.0  # a trial is shown as running for at most so long after its client has been silent for SILENCE


class SilenceSweep:
    """Sweep of a master that listens from now on."""

    def __init__(self, ctx: MasterContext) -> None:
        self._ctx = ctx
        self._listening_since = ctx.clock.now()

    async def step(self) -> None:
        """Do one pass; called every PERIOD_S."""
        await sweep(self._ctx, self._listening_since)


async def sweep(ctx: MasterContext, listening_since: datetime) -> None:
    """End the trials that have been silent since then for too long."""
    touched = await ctx.db.write(lambda conn: lifecycle.sweep(conn, ctx.clock.now(), listening_since))
    if touched:
        ctx.bus.publish("experiments", "gc", *(f"experiment:{i}" for i in touched))
