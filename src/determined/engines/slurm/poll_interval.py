"""Interval between queries to Slurm: short while something starts or ends, long when nothing changes."""

import asyncio
import contextlib

_FAST, _SLOW = 0.5, 4.0
_GROWTH = 1.4


class PollInterval:
    def __init__(self) -> None:
        self.rest = _FAST
        self._wake = asyncio.Event()

    def hurry(self) -> None:
        """Query now, and often for a while: something is about to change."""
        self.rest = _FAST
        self._wake.set()

    def quicken(self) -> None:
        """Query often for a while: something has changed, and more may follow."""
        self.rest = _FAST

    async def wait(self) -> None:
        """Wait until the next query; each time a little longer."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.rest):
                await self._wake.wait()
        if not self._wake.is_set():
            self.rest = min(self.rest * _GROWTH, _SLOW)
        self._wake.clear()
