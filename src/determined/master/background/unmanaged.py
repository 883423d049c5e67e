"""Ends unmanaged trials whose client has fallen silent."""

from determined.master.context import MasterContext
from determined.master.lifecycle import unmanaged as lifecycle

PERIOD_S = 30.0  # a trial is shown as running for at most so long after its client has been silent for SILENCE


async def sweep(ctx: MasterContext) -> None:
    """Do one pass; called every PERIOD_S."""
    touched = await ctx.db.write(lambda conn: lifecycle.sweep(conn, ctx.clock.now()))
    if touched:
        ctx.bus.publish("experiments", "gc", *(f"experiment:{i}" for i in touched))
