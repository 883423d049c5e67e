"""Slows down password guessing: who waits how long, and how many attempts run at once.

Failures are counted per name and peer address, so whoever guesses from elsewhere does not hold up the owner of the
name. Nothing here grows with what callers send: names are kept as digests, and every queue has an end.
"""

import asyncio
import hashlib
import random
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from determined.errors import TooManyRequests

_FREE_TRIES = 5
_LONGEST_WAIT = 3.0  # seconds; a person who mistypes is bothered, not locked out
_FORGET_AFTER = 300.0
_REMEMBERED = 10_000  # names; beyond this the oldest is forgotten, so guessing names cannot fill the memory
_WAITING_PER_NAME = 8  # from one address
_WAITING_PER_PEER = 32
_HASHES_AT_ONCE = 2  # each keeps a core busy for tens of milliseconds and takes 19 MiB


class LoginThrottle:
    def __init__(self) -> None:
        self._failures: OrderedDict[bytes, tuple[int, float]] = OrderedDict()
        # Only those that somebody is in; apart, for whoever is in one by name waits for one by peer.
        self._lanes: dict[bytes, _Lane] = {}
        self._peer_lanes: dict[bytes, _Lane] = {}
        self._hashing = asyncio.Semaphore(_HASHES_AT_ONCE)

    def wait(self, username: str, now: float, peer: str = "") -> float:
        """Seconds to hold this attempt back."""
        count, last = self._failures.get(_digest(username, peer), (0, now))
        if now - last > _FORGET_AFTER:
            return 0.0
        extra = count - _FREE_TRIES
        return 0.0 if extra < 0 else min(_LONGEST_WAIT, 0.25 * 2 ** min(extra, 10))

    def failed(self, username: str, now: float, peer: str = "") -> None:
        key = _digest(username, peer)
        count, last = self._failures.pop(key, (0, now))
        self._failures[key] = (1 if now - last > _FORGET_AFTER else count + 1, now)
        if len(self._failures) > _REMEMBERED:
            self._failures.popitem(last=False)

    def succeeded(self, username: str, peer: str = "") -> None:
        self._failures.pop(_digest(username, peer), None)

    def one_at_a_time(self, username: str, peer: str) -> "_Turn":
        """Hold this during a whole attempt: the next guess at a name must know how the one before has ended.

        Raises:
            TooManyRequests: on entering, when too many attempts from this address wait.
        """
        return _Turn(self._lanes, _digest(username, peer), 1, _WAITING_PER_NAME)

    @asynccontextmanager
    async def hashing(self, peer: str) -> AsyncIterator[None]:
        """Hold this while a password is hashed. Raises TooManyRequests as above."""
        turn = _Turn(self._peer_lanes, _digest("", peer), _HASHES_AT_ONCE, _WAITING_PER_PEER)
        async with turn, self._hashing:
            yield


class _Lane:
    """`at_once` inside, up to `limit` waiting in order; one more takes the place of a random one, who is refused.

    Not simply refused itself: then whoever fills the lane first would keep everybody else out.
    """

    def __init__(self, at_once: int, limit: int) -> None:
        self._free, self._limit = at_once, limit
        self._waiting: list[asyncio.Future[None]] = []
        self.users = 0

    async def enter(self) -> None:
        if self._free > 0:
            self._free -= 1
            return
        if len(self._waiting) >= self._limit:
            self._refuse_one()
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place in self._waiting:
                self._waiting.remove(place)
            elif place.done() and not place.cancelled() and place.exception() is None:
                self.leave()  # it was let in just when its client left
            raise

    def leave(self) -> None:
        while self._waiting:
            place = self._waiting.pop(0)
            if not place.done():
                place.set_result(None)
                return
        self._free += 1

    def _refuse_one(self) -> None:
        place = self._waiting.pop(random.randrange(len(self._waiting)))
        if not place.done():
            place.set_exception(TooManyRequests("too many logins are being tried at once; try again in some seconds"))


class _Turn:
    """A lane that exists as long as somebody is in it."""

    def __init__(self, lanes: dict[bytes, _Lane], key: bytes, at_once: int, limit: int) -> None:
        self._lanes, self._key, self._at_once, self._limit = lanes, key, at_once, limit

    async def __aenter__(self) -> None:
        lane = self._lanes.setdefault(self._key, _Lane(self._at_once, self._limit))
        lane.users += 1
        try:
            await lane.enter()
        except BaseException:
            self._left(lane)
            raise

    async def __aexit__(self, *_: object) -> None:
        lane = self._lanes[self._key]
        lane.leave()
        self._left(lane)

    def _left(self, lane: _Lane) -> None:
        lane.users -= 1
        if not lane.users:
            del self._lanes[self._key]


def _digest(username: str, peer: str) -> bytes:
    return hashlib.blake2b(f"{peer}\0{username}".encode(errors="replace"), digest_size=16).digest()
