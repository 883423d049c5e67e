"""Logs whose time has come are dropped: a sweep by the configured schedule (docs/architecture/task_environment.md)."""

import logging
import re
from datetime import datetime

from determined.master.context import MasterContext
from determined.master.services import log as logs

logger = logging.getLogger(__name__)

DEFAULT_SECONDS = 24 * 3600.0
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")


async def sweep(ctx: MasterContext, now: datetime | None = None) -> int:
    """One pass; answers how many lines were dropped."""
    removed = await logs.sweep(ctx, now or ctx.clock.now())
    if removed:
        logger.info("log retention: %s lines dropped", removed)
    return removed


def period(schedule: str | None) -> float:
    """Seconds between sweeps: a duration such as `2h30m`; none, or a cron line, means daily."""
    text = (schedule or "").strip()
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return DEFAULT_SECONDS
    return max(1.0, sum(float(number) * _UNITS[unit] for number, unit in parts))
