"""Large submissions of one user take turns: each takes several times its size of memory until it is stored.

Whoever waits is not read: its bytes stay with the client. Nobody waits for another user.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

from determined.master.auth.identity import Caller
from determined.master.routes.body import read_body
from determined.master.routes.limits import MIB
from determined.master.routes.request import AnyRequest

T = TypeVar("T")

AT_ONCE = 2  # of one user
LARGE = 4 * MIB  # most submissions are smaller, and never wait


class SubmitTurns:
    """Turns of the users who submit something large now."""

    def __init__(self) -> None:
        self._free: dict[int, asyncio.Semaphore] = {}
        self.present: dict[int, int] = {}  # by user id: who is at it, or waits

    @asynccontextmanager
    async def body(self, request: AnyRequest, caller: Caller, kind: type[T]) -> AsyncIterator[T]:
        """Read a submission in its turn, which lasts as long as the block that stores it."""
        async with self.turn(request, caller):
            yield await read_body(request, kind)

    @asynccontextmanager
    async def turn(self, request: AnyRequest, caller: Caller) -> AsyncIterator[None]:
        """Hold this while a submission is read and stored."""
        if not _is_large(request):
            yield
            return
        user = caller.user_id
        free = self._free.setdefault(user, asyncio.Semaphore(AT_ONCE))
        self.present[user] = self.present.get(user, 0) + 1
        try:
            async with free:
                yield
        finally:
            self.present[user] -= 1
            if not self.present[user]:
                del self.present[user], self._free[user]


def _is_large(request: AnyRequest) -> bool:
    """Read the length that the request names; a body that comes in pieces may become large."""
    said = request.headers.get("content-length", "")
    return not said.isdecimal() or int(said) > LARGE
