"""Taking turns at expensive work: so many at once under a key; the others wait in order, and not without end."""

import asyncio
import random

from determined.errors import TooManyRequests


class TurnQueue:
    """Queues by key, each dropped when it is empty.

    Args:
        at_once: so many under one key are let in at the same time.
        waiting: so many may wait under one key.
        what: what waits, for the message of one that is refused: `logins`.
    """

    def __init__(self, at_once: int, waiting: int, what: str) -> None:
        self._at_once, self._waiting, self._what = at_once, waiting, what
        self._queues: dict[object, _KeyQueue] = {}

    def take(self, key: object) -> "_Turn":
        """Hold the turn during the work. Raises TooManyRequests on entering, when too many wait."""
        return _Turn(self, key)

    def _queue(self, key: object) -> "_KeyQueue":
        return self._queues.setdefault(key, _KeyQueue(self._at_once, self._waiting, self._what))

    def _left(self, key: object) -> None:
        queue = self._queues[key]
        queue.users -= 1
        if not queue.users:
            del self._queues[key]


class _Turn:
    def __init__(self, turns: TurnQueue, key: object) -> None:
        self._turns, self._key = turns, key

    async def __aenter__(self) -> None:
        queue = self._turns._queue(self._key)
        queue.users += 1
        try:
            await queue.enter()
        except BaseException:
            self._turns._left(self._key)
            raise

    async def __aexit__(self, *_: object) -> None:
        self._turns._queue(self._key).leave()
        self._turns._left(self._key)


class _KeyQueue:
    """`at_once` inside, up to `limit` waiting in order; one more takes the place of a random one, who is refused.

    Not simply refused itself: then whoever fills the queue first would keep everybody else out.
    """

    def __init__(self, at_once: int, limit: int, what: str) -> None:
        self._free, self._limit, self._what = at_once, limit, what
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
            place.set_exception(TooManyRequests(f"too many {self._what} at once; try again in some seconds"))
