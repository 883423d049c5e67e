"""How often Slurm is asked: often while something starts or ends, seldom when all is calm."""

import asyncio
import contextlib

_FAST, _SLOW = 0.5, 4.0
_GROWTH = 1.4


class PollInterval:
    def __init__(self) -> None:
        self.rest = _FAST
        self._wake = asyncio.Event()

    def hurry(self) -> None:
        """Something is about to change: ask now, and often for a while."""
        self.rest = _FAST
        self._wake.set()

    def quicken(self) -> None:
        """Something has changed: more may follow."""
        self.rest = _FAST

    async def wait(self) -> None:
        """Until it is time to ask again; each time a little longer."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.rest):
                await self._wake.wait()
        if not self._wake.is_set():
            self.rest = min(self.rest * _GROWTH, _SLOW)
        self._wake.clear()
