"""Gives memory that was freed back to the system.

glibc keeps what a burst of requests has used, in one pool for each thread that took part, and never looks at it again
by itself: without this a master stays as large as it has ever been.
"""

import asyncio
import ctypes
from typing import Any

PERIOD_S = 30.0


async def trim() -> None:
    """In a thread, for it may take some milliseconds. Does nothing where the C library has no such call."""
    release = _malloc_trim()
    if release is not None:
        await asyncio.to_thread(release, 0)


def _malloc_trim() -> Any:
    try:
        return getattr(ctypes.CDLL(None), "malloc_trim", None)
    except OSError:
        return None  # no library to ask on this system
