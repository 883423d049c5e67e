"""Check storages in few threads, each for a bounded time: a storage that hangs blocks its thread alone."""

import asyncio
import contextlib
import threading
from collections.abc import Callable

SECONDS = 10.0  # for one check; a request waits for it
_MOST_THREADS = 32  # a network file system that hangs keeps each one for ever
_free = threading.Semaphore(_MOST_THREADS)


def new_threads() -> threading.Semaphore:
    """Return threads for checks of another kind, which storages that hang do not take from these."""
    return threading.Semaphore(_MOST_THREADS)


async def check_in_time(check: Callable[[], None], threads: threading.Semaphore | None = None) -> None:
    """Run the check in a thread. Raises TimeoutError, and what the check raises."""
    free = _free if threads is None else threads
    if not free.acquire(blocking=False):
        raise TimeoutError(f"{_MOST_THREADS} checks of storages have not ended")
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[None] = loop.create_future()

    def run() -> None:
        error = None
        try:
            check()
        except Exception as e:  # noqa: BLE001  raised again where it is waited for
            error = e
        free.release()
        with contextlib.suppress(RuntimeError):  # the master has ended meanwhile
            loop.call_soon_threadsafe(_settle, answer, error)

    threading.Thread(target=run, name="check of a storage", daemon=True).start()
    await asyncio.wait_for(answer, SECONDS)


def _settle(answer: "asyncio.Future[None]", error: Exception | None) -> None:
    if answer.done():
        return  # nobody waits any more
    if error is None:
        answer.set_result(None)
    else:
        answer.set_exception(error)
