"""In-process hints that something committed. The database is the truth; a hint may be lost, so waiters also poll."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Bus:
    """Topics are strings such as `allocation:3.u.1`, `task_logs:ID`, `schedule`. One event loop only."""

    def __init__(self) -> None:
        self._waiters: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._closed = False

    def publish(self, *topics: str) -> None:
        for topic in topics:
            for waiter in self._waiters.get(topic, ()):
                waiter.set()

    @asynccontextmanager
    async def listen(self, *topics: str) -> AsyncIterator["Listener"]:
        """Subscribe before reading the database, then `await listener.wait(timeout)` between reads."""
        event = asyncio.Event()
        for topic in topics:
            self._waiters[topic].add(event)
        try:
            yield Listener(event, self)
        finally:
            for topic in topics:
                self._waiters[topic].discard(event)
                if not self._waiters[topic]:
                    del self._waiters[topic]

    @property
    def closed(self) -> bool:
        """State of the master: true once it is stopping, when long polls answer at once and streams end."""
        return self._closed

    def close(self) -> None:
        self._closed = True
        self.publish(*list(self._waiters))


class Listener:
    def __init__(self, event: asyncio.Event, bus: Bus) -> None:
        self._event = event
        self._bus = bus

    async def wait(self, seconds: float) -> bool:
        """Wait for a hint and return True; return False when `seconds` passed or the master is stopping."""
        if self._bus.closed:
            return False
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return False
        self._event.clear()
        return not self._bus.closed
