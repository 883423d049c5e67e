"""Looks at storages in threads that one which never answers may keep: so many, and each waited for so long."""

import asyncio
import contextlib
import threading
from collections.abc import Callable

SECONDS = 10.0  # for one look; somebody waits for it
_MOST_THREADS = 32  # a network file system that hangs keeps each one for ever
_free = threading.Semaphore(_MOST_THREADS)


async def look_in_time(look: Callable[[], None]) -> None:
    """Run it in a thread. Raises TimeoutError, and what it raises."""
    if not _free.acquire(blocking=False):
        raise TimeoutError(f"{_MOST_THREADS} looks at storages have not ended")
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[None] = loop.create_future()

    def run() -> None:
        error = None
        try:
            look()
        except Exception as e:  # noqa: BLE001  raised again where it is waited for
            error = e
        _free.release()
        with contextlib.suppress(RuntimeError):  # the master has ended meanwhile
            loop.call_soon_threadsafe(_settle, answer, error)

    threading.Thread(target=run, name="look at a storage", daemon=True).start()
    await asyncio.wait_for(answer, SECONDS)


def _settle(answer: "asyncio.Future[None]", error: Exception | None) -> None:
    if answer.done():
        return  # nobody waits any more
    if error is None:
        answer.set_result(None)
    else:
        answer.set_exception(error)
