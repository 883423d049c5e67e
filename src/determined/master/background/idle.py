"""Ends notebooks, shells and TensorBoards that nobody has used for longer than their idle timeout."""

from dataclasses import dataclass, field
from datetime import datetime

from determined.master.context import MasterContext
from determined.master.lifecycle import idle as lifecycle
from determined.master.lifecycle import topics

PERIOD_S = 5.0


@dataclass(slots=True)
class IdleWatch:
    """Watch that starts with its master: no task is ended for the time when there was none."""

    ctx: MasterContext
    since: datetime = field(init=False)

    def __post_init__(self) -> None:
        self.since = self.ctx.clock.now()

    async def step(self) -> None:
        """Do one pass; called every PERIOD_S."""
        ctx, now = self.ctx, self.ctx.clock.now()
        found = await ctx.db.read(
            lambda conn: lifecycle.look(conn, now, ctx.config, ctx.activity.last, self.since),
        )
        if found.timeouts or found.uses:
            await ctx.db.write(lambda conn: lifecycle.act(conn, now, found))
        ctx.activity.keep(found.watched)
        if found.timeouts:
            ctx.bus.publish(topics.SCHEDULE, "jobs", "tasks")
