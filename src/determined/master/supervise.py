"""The only place that creates asyncio tasks: each has a name, a crash is logged, none is garbage-collected."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from determined.errors import Unavailable

logger = logging.getLogger(__name__)

_running: set[asyncio.Task[Any]] = set()  # the loop holds tasks weakly; without this one may vanish mid-way


def spawn(work: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
    """Start a named task. If it crashes, the log says so; whoever awaits it gets the error as well."""
    task = asyncio.get_running_loop().create_task(work, name=name)
    _running.add(task)
    task.add_done_callback(_finished)
    return task


def repeat(step: Callable[[], Awaitable[Any]], *, name: str, seconds: float | Callable[[], float]) -> asyncio.Task[Any]:
    """Call `step` now and every `seconds` after it ended, for ever. A failing step is logged and tried again."""
    return spawn(_repeat(step, name, seconds if callable(seconds) else lambda: seconds), name=name)


async def stop(*tasks: asyncio.Task[Any]) -> None:
    """Cancel and wait. Errors were logged when they happened."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _repeat(step: Callable[[], Awaitable[Any]], name: str, pause: Callable[[], float]) -> None:
    while True:
        try:
            await step()
        except Unavailable as e:
            # the database is away or its disk is full: one line a pass, not a traceback
            logger.warning("%s waits: %s; trying again in %s s", name, e.message, pause())
        except Exception:
            # a loop that died on one bad pass would silently stop doing its duty until the next restart
            logger.exception("%s: this pass failed; trying again in %s s", name, pause())
        await asyncio.sleep(pause())


def _finished(task: asyncio.Task[Any]) -> None:
    _running.discard(task)
    if not task.cancelled() and task.exception() is not None:
        logger.error("task %s crashed", task.get_name(), exc_info=task.exception())
