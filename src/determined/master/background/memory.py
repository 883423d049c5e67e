"""Give memory that is not needed now back to the system.

SQLite keeps what it has read, up to 32 MiB for each connection, and the last values of each cached statement. glibc
keeps what a burst of requests has used, in one pool for each thread that took part, and never looks at it again by
itself: without this a master stays as large as it has ever been. Python's collector looks at too much instead.
"""

import asyncio
import ctypes
import gc
from collections.abc import Callable
from typing import cast

from sqlalchemy import Engine

from determined.master.db import dialects

PERIOD_S = 30.0

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # names of mallopt(3)
_LARGE_BYTES = 1024 * 1024
_NEW_OBJECTS = 10_000  # containers; Python's own 700 are the records of one batch of reports
_ARENAS = 2  # pools of memory; by itself glibc makes eight per core, and each keeps what its threads once needed


def set_thresholds() -> None:
    """Let freed blocks of 1 MiB and more go back at once, and threads share pools.

    By itself glibc raises both limits to the largest block ever freed. Hashing a password takes 19 MiB, so that each
    thread which had done it once would keep that much, where `malloc_trim` does not look.
    """
    mallopt = _c_function("mallopt")
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, _LARGE_BYTES)
        mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)
        mallopt(_ARENA_MAX, _ARENAS)


def freeze_objects() -> None:
    """Keep the garbage collector away from all objects there are now: after the imports, and once the master serves.

    What was imported and built until then, hundreds of thousands of objects, lives as long as the process. Looking
    through it again and again took two thirds of the time of decoding a batch of reports, and looking through it once,
    before this, 80 ms of the start: of 180,000 objects a thousand were garbage.
    """
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)


async def trim(engine: Engine) -> None:
    """Release free memory in a thread: it may take milliseconds. Skip what the C library or the database lacks."""
    await asyncio.to_thread(dialects.release_memory, engine)
    release = _c_function("malloc_trim")
    if release is not None:
        await asyncio.to_thread(release, 0)


def _c_function(name: str) -> Callable[..., int] | None:
    try:
        return cast("Callable[..., int] | None", getattr(ctypes.CDLL(None), name, None))
    except OSError:
        return None  # no library to ask on this system
