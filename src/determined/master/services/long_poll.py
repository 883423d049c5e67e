"""Waiting for a row to change: read, wait for a hint, read again; until it is as wanted, or time is up, or we stop."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection

from determined.errors import InvalidArgument
from determined.master.context import MasterContext

T = TypeVar("T")

MAX_SECONDS = 600.0
_REREAD_SECONDS = 5.0  # a hint may be lost


def checked_timeout(seconds: float) -> float:
    """Return the timeout that a client asked for, within reason."""
    if not seconds >= 0:  # also refuses NaN
        raise InvalidArgument(f"timeout_seconds={seconds} must not be negative")
    return min(seconds, MAX_SECONDS)


async def poll(
    ctx: MasterContext,
    topic: str,
    read: Callable[[Connection], T],
    done: Callable[[T], bool],
    seconds: float,
    *,
    reread_seconds: float = _REREAD_SECONDS,
) -> T:
    """Return the first value that is `done`, or the last one read: up to `reread_seconds` old without a hint."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    async with ctx.bus.listen(topic) as listener:
        while True:
            value = await ctx.db.read(read)
            left = deadline - loop.time()
            if done(value) or left <= 0 or ctx.bus.closed:
                return value
            if not await listener.wait(min(left, reread_seconds)) and left <= reread_seconds:
                return value  # not read again: who waits on asks again at once, and is answered from the row then
