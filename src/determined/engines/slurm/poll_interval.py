"""Interval between queries to Slurm: short while something starts or ends, long when nothing changes."""

import asyncio
import contextlib

_FAST, _SLOW = 0.5, 4.0
_GROWTH = 1.4


class PollInterval:
    def __init__(self) -> None:
        self.seconds = _FAST
        self._wake = asyncio.Event()

    def poll_now(self) -> None:
        """Query now, and often for a while: something is about to change."""
        self.seconds = _FAST
        self._wake.set()

    def poll_often(self) -> None:
        """Query often for a while: something has changed, and more may follow."""
        self.seconds = _FAST

    async def wait(self) -> None:
        """Wait until the next query; each time a little longer."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.seconds):
                await self._wake.wait()
        if not self._wake.is_set():
            self.seconds = min(self.seconds * _GROWTH, _SLOW)
        self._wake.clear()
