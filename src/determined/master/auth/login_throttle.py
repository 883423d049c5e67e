"""Login throttle: slows down password guessing; who waits how long, and how many attempts run at once.

Failures are counted per name and peer address, so whoever guesses from elsewhere does not hold up the owner of the
name. Nothing here grows with what callers send: names are kept as digests, and every queue has an end.
"""

import asyncio
import hashlib
import os
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from determined._backoff import Backoff
from determined.master.turn_queue import TurnQueue

_FREE_TRIES = 5
_WAIT = Backoff(first=0.25, limit=3.0)  # seconds; a person who mistypes is bothered, not locked out
_FORGET_AFTER = 300.0
_REMEMBERED = 10_000  # names; beyond this the oldest is forgotten, so guessing names cannot fill the memory
_WAITING_PER_NAME = 8  # from one address
_WAITING_PER_PEER = 32
# Each keeps a core busy for tens of milliseconds and takes 19 MiB; half of the cores stay free for everybody else.
_HASHES_AT_ONCE = max(1, (os.cpu_count() or 1) // 2)
_LOGINS = "logins are being tried"


class LoginThrottle:
    def __init__(self) -> None:
        self._failures: OrderedDict[bytes, tuple[int, float]] = OrderedDict()
        # Two queues: the holder of a turn by name waits for one by peer; in one queue they could wait for each other.
        self._by_name = TurnQueue(1, _WAITING_PER_NAME, _LOGINS)
        self._by_peer = TurnQueue(_HASHES_AT_ONCE, _WAITING_PER_PEER, _LOGINS)
        self._hashing = asyncio.Semaphore(_HASHES_AT_ONCE)
        # Hashes that upstream made take seconds each: nobody else's login waits behind them.
        self._slow_by_peer = TurnQueue(1, _WAITING_PER_NAME, _LOGINS)
        self._slow_hashing = asyncio.Semaphore(1)

    def wait(self, username: str, now: float, peer: str = "") -> float:
        """Return the seconds to hold this attempt back."""
        count, last = self._failures.get(_digest(username, peer), (0, now))
        if now - last > _FORGET_AFTER:
            return 0.0
        extra = count - _FREE_TRIES
        return 0.0 if extra < 0 else _WAIT.delay(extra)

    def failed(self, username: str, now: float, peer: str = "") -> None:
        key = _digest(username, peer)
        count, last = self._failures.pop(key, (0, now))
        self._failures[key] = (1 if now - last > _FORGET_AFTER else count + 1, now)
        if len(self._failures) > _REMEMBERED:
            self._failures.popitem(last=False)

    def succeeded(self, username: str, peer: str = "") -> None:
        self._failures.pop(_digest(username, peer), None)

    def one_at_a_time(self, username: str, peer: str) -> AbstractAsyncContextManager[None]:
        """Hold this during a whole attempt: the next guess at a name must know how the one before has ended.

        Raises:
            TooManyRequests: on entering, when too many attempts from this address wait.
        """
        return self._by_name.take(_digest(username, peer))

    @asynccontextmanager
    async def hashing(self, peer: str, *, slow: bool = False) -> AsyncIterator[None]:
        """Hold this while a password is hashed. `slow`: by upstream's method. Raises TooManyRequests as above."""
        queue, running = (self._slow_by_peer, self._slow_hashing) if slow else (self._by_peer, self._hashing)
        async with queue.take(_digest("", peer)), running:
            yield


def _digest(username: str, peer: str) -> bytes:
    return hashlib.blake2b(f"{peer}\0{username}".encode(errors="replace"), digest_size=16).digest()
