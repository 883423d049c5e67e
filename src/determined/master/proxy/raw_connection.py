"""A connection without HTTP: bytes are read as they come, and both sides wait for each other.

Reading stops while BUFFER bytes wait to be taken, writing while BUFFER bytes wait to be sent: no stream holds more in
the master than that, however slow its reader is.
"""

import asyncio
from collections import deque

from determined.wire.tunnel import Buffer

BUFFER = 256 * 1024


class Inbox:
    """Bytes that were received and nobody has read yet. The transport pauses while they are too many."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._pieces: deque[Buffer] = deque()
        self._size = 0
        self._is_paused = False
        self._has_ended = False
        self._changed = asyncio.Event()

    async def read(self) -> Buffer:
        """Return what was received, at least one byte; empty when nothing more comes."""
        while not self._pieces:
            if self._has_ended:
                return b""
            self._changed.clear()
            await self._changed.wait()
        piece = self._pieces.popleft()
        self._size -= len(piece)
        if self._size < BUFFER:
            self._resume()
        return piece

    def deliver(self, data: Buffer) -> None:
        if self._has_ended:
            return
        self._pieces.append(data)
        self._size += len(data)
        self._changed.set()
        if self._size >= BUFFER and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()

    def end(self) -> None:
        """Let the reader read what is there, and then the end."""
        self._has_ended = True
        self._changed.set()

    def close(self) -> None:
        """Throw away what is there, and all that comes."""
        self._pieces.clear()
        self._size = 0
        self.end()
        self._resume()

    def _resume(self) -> None:
        if self._is_paused:
            self._is_paused = False
            if not self._transport.is_closing():
                self._transport.resume_reading()


class RawConnection(asyncio.Protocol):
    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._inbox: Inbox | None = None
        self.is_lost = False
        self._writable = asyncio.Event()
        self._writable.set()

    async def read(self) -> Buffer:
        """Return what was received, at least one byte; empty when nothing more comes."""
        return await self._inbox.read() if self._inbox is not None else b""

    async def write(self, *parts: Buffer, seconds: float | None = None) -> None:
        """Send; wait while too much is unsent. Raises ConnectionError when the other side is gone, and TimeoutError."""
        if not self.is_lost:
            self.transport.writelines(parts)
        if not self._writable.is_set():
            async with asyncio.timeout(seconds):
                await self._writable.wait()
        if self.is_lost:
            raise ConnectionResetError("the connection was closed")

    def close(self) -> None:
        """Close after what was written is sent."""
        self.transport.close()

    def abort(self) -> None:
        self.transport.abort()

    @property
    def transport(self) -> asyncio.Transport:
        assert self._transport is not None, "the connection is not made yet"
        return self._transport

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # always of a stream
        self._transport, self._inbox = transport, Inbox(transport)
        transport.set_write_buffer_limits(high=BUFFER)

    def data_received(self, data: bytes) -> None:
        if self._inbox is not None:
            self._inbox.deliver(data)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        self._writable.set()
        if self._inbox is not None:
            self._inbox.end()
