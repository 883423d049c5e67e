"""Long polls: how often they read the rows while nothing happens."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Connection

from determined.master.bus import Bus
from determined.master.services.long_poll import poll

LONG = 3600.0


class Rows:
    """Stands for the database: answers the next of `values`, the last one for ever, and counts."""

    def __init__(self, *values: bool) -> None:
        self._values = list(values)
        self.reads = 0
        self.was_read = asyncio.Event()

    async def read(self, run: Callable[[Connection], Any]) -> bool:
        self.reads += 1
        self.was_read.set()
        return self._values.pop(0) if len(self._values) > 1 else self._values[0]


async def wait(rows: Rows, bus: Bus, seconds: float, reread_seconds: float = LONG) -> bool:
    ctx: Any = SimpleNamespace(db=rows, bus=bus)
    return await poll(ctx, "a", lambda conn: True, bool, seconds, reread_seconds=reread_seconds)


async def test_a_poll_without_a_hint_reads_once() -> None:
    rows = Rows(False)
    assert not await wait(rows, Bus(), 0.01)
    assert rows.reads == 1


async def test_a_poll_reads_after_a_hint_and_answers_what_changed() -> None:
    rows, bus = Rows(False, True), Bus()
    polled = asyncio.create_task(wait(rows, bus, LONG))
    await rows.was_read.wait()
    bus.publish("a")
    assert await polled
    assert rows.reads == 2


async def test_a_poll_longer_than_the_time_to_reread_finds_a_change_without_a_hint() -> None:
    assert await wait(Rows(False, False, True), Bus(), LONG, reread_seconds=0.001)


async def test_a_poll_answers_at_once_when_the_master_stops() -> None:
    rows, bus = Rows(False), Bus()
    polled = asyncio.create_task(wait(rows, bus, LONG))
    await rows.was_read.wait()
    bus.close()
    assert not await polled
