"""Ends unmanaged trials whose client has fallen silent."""

from determined.master.context import MasterContext
from determined.master.lifecycle import unmanaged as lifecycle

PERIOD_S = lifecycle.SILENCE.total_seconds()


async def sweep(ctx: MasterContext) -> None:
    """One look; called every PERIOD_S."""
    touched = await ctx.db.write(lambda conn: lifecycle.sweep(conn, ctx.clock.now()))
    if touched:
        ctx.bus.publish("experiments", "gc", *(f"experiment:{i}" for i in touched))
