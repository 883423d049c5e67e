"""Log retention: delete old task logs by the configured schedule (docs/architecture/task_environment.md)."""

import logging
from datetime import datetime

from determined.master.config.schedule import seconds_until_next
from determined.master.context import MasterContext
from determined.master.services import log as logs

logger = logging.getLogger(__name__)


async def sweep(ctx: MasterContext, now: datetime | None = None) -> int:
    """Drop the lines that are too old, in one pass, and return how many were dropped."""
    removed = await logs.sweep(ctx, now or ctx.clock.now())
    if removed:
        logger.info("log retention: %s lines dropped", removed)
    return removed


def until_next(ctx: MasterContext) -> float:
    """Return the seconds to the next sweep."""
    return seconds_until_next(ctx.config.retention_policy.schedule, ctx.clock.now())
