"""Connection of a tunnel: frames on a raw connection, and the stream that it carries (wire/tunnel.py)."""

import asyncio
import logging
import socket
import struct
from collections.abc import Callable

from determined.errors import Unavailable
from determined.master.proxy.raw_connection import Inbox, RawConnection
from determined.wire.codec import to_json
from determined.wire.tunnel import MAX_DATA, BadFrame, Buffer, Frame, FrameReader, OpenStream, frame, header

logger = logging.getLogger(__name__)

# A service that takes nothing for so long is left. Whoever sends to it may have gone: that is not seen while nothing is
# read from him.
_STALLED_SECONDS = 600.0
_CLOSE_SECONDS = 10.0  # until the runner confirms the end of a stream that nobody reads any more


class ServiceRefused(Unavailable):
    """The task runs, but its service does not answer: it has not started to listen yet, or not any more."""


class TunnelConnection(RawConnection):
    """Connection of a runner. `on_free` is called when it can carry another stream, `on_lost` when it is gone."""

    def __init__(
        self, on_free: "Callable[[TunnelConnection], None]", on_lost: "Callable[[TunnelConnection], None]"
    ) -> None:
        super().__init__()
        self._on_free, self._on_lost = on_free, on_lost
        self._frames = FrameReader()
        self._stream: Stream | None = None
        self._has_sent_end = self._has_received_end = True
        self._giving_up: asyncio.TimerHandle | None = None
        self.is_answered = True  # the last ping

    def open(self, service: str, waiting: int) -> "Stream":
        """Begin a stream. Call it only on a free connection."""
        self._has_sent_end = self._has_received_end = False
        self._stream = Stream(self, Inbox(self.transport))
        self.transport.write(frame(Frame.OPEN, to_json(OpenStream(service=service, waiting=waiting))))
        return self._stream

    def ping(self) -> None:
        self.is_answered = False
        self.transport.write(frame(Frame.PING))

    def send_end(self) -> None:
        if not self._has_sent_end and not self.is_lost:
            self._has_sent_end = True
            self.transport.write(frame(Frame.END))

    def drop_stream(self) -> None:
        """End the stream whatever its state; what still arrives of it is thrown away."""
        self._stream = None
        if self.is_lost:
            return
        if not (self._has_sent_end and self._has_received_end):
            self._has_sent_end = True
            self.transport.write(frame(Frame.CLOSE))
        if not self._has_received_end:
            self._giving_up = asyncio.get_running_loop().call_later(_CLOSE_SECONDS, self.abort)
        self._free_if_over()

    def abort(self) -> None:
        """Break it off with a reset: an ordinary end would wait behind bytes that a stalled runner does not take."""
        sock = self.transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        super().abort()

    def data_received(self, data: bytes) -> None:
        try:
            for kind, payload in self._frames.feed(data):
                self._handle(kind, payload)
        except BadFrame as e:
            logger.warning("a tunnel is closed: %s", e)
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._giving_up is not None:
            self._giving_up.cancel()
        if self._stream is not None:
            self._stream.settle(ConnectionResetError("the tunnel to the task broke"))
            self._stream.inbox.end()
        self._on_lost(self)

    def _handle(self, kind: Frame, payload: Buffer) -> None:
        if kind is Frame.PONG:
            self.is_answered = True
        elif kind is Frame.DATA:
            if self._stream is not None:
                self._stream.inbox.deliver(payload)
        elif kind is Frame.ACCEPTED:
            if self._stream is not None:
                self._stream.settle(None)
        elif kind in (Frame.END, Frame.REFUSED):
            self._has_received_end = True
            if self._stream is not None:
                self._stream.settle(ServiceRefused(bytes(payload).decode(errors="replace")))
                self._stream.inbox.end()
            self._free_if_over()
        else:
            raise BadFrame(f"a runner sends no {kind.name}")

    def _free_if_over(self) -> None:
        is_over = self._stream is None and self._has_sent_end and self._has_received_end
        if not is_over or self.is_lost or self.transport.is_closing():
            return
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None
        self._on_free(self)


class Stream:
    """Stream to a service of a task. Its owner calls `close` at last, whatever happened."""

    def __init__(self, connection: TunnelConnection, inbox: Inbox) -> None:
        self._connection: TunnelConnection | None = connection
        self.inbox = inbox
        self._accepted: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()

    async def accepted(self) -> None:
        """Return once the service is connected. Raises ServiceRefused, or ConnectionError."""
        error = await asyncio.shield(self._accepted)
        if error is not None:
            raise error

    async def read(self) -> Buffer:
        """Return bytes of the service, empty at their end. Raises ConnectionError when the tunnel broke."""
        data = await self.inbox.read()
        if not data and (self._connection is None or self._connection.is_lost):
            raise ConnectionResetError("the tunnel to the task broke")
        return data

    async def write(self, data: Buffer) -> None:
        """Send to the service; wait while too much is on its way. Raises ConnectionError."""
        for start in range(0, len(data), MAX_DATA):
            if self._connection is None:
                raise ConnectionResetError("the stream was closed")
            piece = data[start : start + MAX_DATA] if len(data) > MAX_DATA else data
            try:
                await self._connection.write(header(Frame.DATA, len(piece)), piece, seconds=_STALLED_SECONDS)
            except TimeoutError:
                self.close()
                raise ConnectionResetError(f"the service has taken nothing for {_STALLED_SECONDS:g} s") from None

    def write_end(self) -> None:
        """Tell the service that nothing more comes; it may still answer."""
        if self._connection is not None:
            self._connection.send_end()

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self.inbox.close()
            connection.drop_stream()

    def settle(self, error: Exception | None) -> None:
        if not self._accepted.done():
            self._accepted.set_result(error)
