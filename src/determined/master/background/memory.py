"""Gives memory that is not needed now back to the system.

SQLite keeps what it has read, up to 32 MiB for each connection. glibc keeps what a burst of requests has used, in one
pool for each thread that took part, and never looks at it again by itself: without this a master stays as large as it
has ever been.
"""

import asyncio
import ctypes
from typing import Any

from sqlalchemy import Engine

from determined.master.db import dialects

PERIOD_S = 30.0


async def trim(engine: Engine) -> None:
    """In a thread, for it may take some milliseconds. What the C library or the database cannot do is left out."""
    await asyncio.to_thread(dialects.release_memory, engine)
    release = _malloc_trim()
    if release is not None:
        await asyncio.to_thread(release, 0)


def _malloc_trim() -> Any:
    try:
        return getattr(ctypes.CDLL(None), "malloc_trim", None)
    except OSError:
        return None  # no library to ask on this system
