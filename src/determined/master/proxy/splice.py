"""Two streams of bytes become one: what comes from either side goes to the other, as fast as that one takes it."""

import asyncio
from collections.abc import Callable, Coroutine

from determined.master import supervise
from determined.master.proxy.raw_connection import RawConnection
from determined.master.proxy.tunnel_connection import Stream
from determined.wire.tunnel import Buffer

_PINGS = (0x89, 0x8A)
_LONGEST_PING = 2 + 4 + 125


async def splice(visitor: RawConnection, stream: Stream, on_bytes: Callable[[], None]) -> None:
    """Carry bytes until one side ends, then close the visitor's connection."""

    async def to_app() -> None:
        while data := await visitor.read():
            if not _is_ping(data):
                on_bytes()
            await stream.write(data)

    async def to_visitor() -> None:
        while data := await stream.read():
            if not _is_ping(data):
                on_bytes()
            await visitor.write(data)

    try:
        await until_one_ends(to_app, to_visitor)
    finally:
        visitor.close()


def _is_ping(data: Buffer) -> bool:
    """Check for a ping or pong of a WebSocket: a tab that nobody looks at sends and answers those too."""
    return len(data) <= _LONGEST_PING and data[0] in _PINGS


async def until_one_ends(*ways: Callable[[], Coroutine[None, None, None]]) -> None:
    """Run both until one ends, in order or because its connection broke."""
    tasks = [supervise.spawn(_quietly(way), name="proxied bytes") for way in ways]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await supervise.stop(*tasks)


async def _quietly(way: Callable[[], Coroutine[None, None, None]]) -> None:
    try:
        await way()
    except ConnectionError:
        return
