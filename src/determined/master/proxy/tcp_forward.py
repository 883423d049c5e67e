"""Raw TCP to a service, in the binary messages of a WebSocket, as `python -m determined.cli.tunnel` speaks it."""

import asyncio
from collections.abc import Callable, Sequence

from websockets.frames import CloseCode, Opcode
from websockets.frames import Frame as WebSocketFrame
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from determined.errors import InvalidArgument
from determined.master.proxy.raw_connection import RawConnection
from determined.master.proxy.splice import until_one_ends
from determined.master.proxy.tunnel_connection import Stream
from determined.master.proxy.visit_request import VisitRequest
from determined.wire.tunnel import TCP_SUBPROTOCOL, Buffer

_TCP = Subprotocol(TCP_SUBPROTOCOL)
_MAX_MESSAGE = 1024 * 1024
_DATA = (Opcode.BINARY, Opcode.TEXT, Opcode.CONT)


def asks_for_tcp(request: VisitRequest) -> bool:
    return TCP_SUBPROTOCOL in (name.strip() for name in request.header("sec-websocket-protocol").split(","))


async def forward_tcp(request: VisitRequest, stream: Stream, on_bytes: Callable[[], None]) -> None:
    """Carry bytes between a WebSocket and a service that is connected. Raises InvalidArgument for plain HTTP."""
    connection = request.connection
    if not request.wants_websocket or connection is None or not connection.can_be_taken_over:
        raise InvalidArgument("this port speaks raw TCP: connect to it with `python -m determined.cli.tunnel`")
    protocol = ServerProtocol(subprotocols=[_TCP], select_subprotocol=_choose, max_size=_MAX_MESSAGE)
    visitor = RawConnection()
    connection.take_over(visitor)
    carrier = _Carrier(protocol, visitor, stream, on_bytes, half_closes=asks_for_tcp(request))
    try:
        if await carrier.shake_hands(request):
            await until_one_ends(carrier.to_app, carrier.to_visitor)
            await carrier.say_goodbye()
    finally:
        visitor.close()


def _choose(_protocol: ServerProtocol, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    return _TCP if _TCP in offered else None


class _Carrier:
    def __init__(
        self,
        protocol: ServerProtocol,
        visitor: RawConnection,
        stream: Stream,
        on_bytes: Callable[[], None],
        *,
        half_closes: bool,
    ) -> None:
        self._protocol = protocol
        self._visitor = visitor
        self._stream = stream
        self._on_bytes = on_bytes
        self._half_closes = half_closes
        self._is_text = False  # the message that is being received
        self._has_app_ended = self._has_visitor_ended = False

    async def shake_hands(self, request: VisitRequest) -> bool:
        """Answer the request for a WebSocket; False when it makes no sense."""
        lines = [b"GET " + request.path + b" HTTP/1.1", *(name + b": " + value for name, value in request.headers)]
        self._protocol.receive_data(b"\r\n".join([*lines, b"", b""]))
        for event in self._protocol.events_received():
            if isinstance(event, Request):
                response = self._protocol.accept(event)
                self._protocol.send_response(response)
                await self._flush()
                return response.status_code == 101
        return False

    async def to_app(self) -> None:
        """Carry what the visitor sends, until he closes the WebSocket or both sides have ended."""
        while data := await self._visitor.read():
            self._protocol.receive_data(bytes(data))
            for event in self._protocol.events_received():
                if isinstance(event, WebSocketFrame) and event.opcode in _DATA:
                    await self._take(event)
            await self._flush()
            if self._protocol.close_expected() or (self._has_visitor_ended and self._has_app_ended):
                return

    async def to_visitor(self) -> None:
        """Carry what the app sends; at its end, wait until the visitor has ended as well, if he can say so."""
        while data := await self._stream.read():
            self._on_bytes()
            await self._send(data)
        self._has_app_ended = True
        if self._half_closes and not self._has_visitor_ended:
            self._protocol.send_text(b"")
            await self._flush()
            await asyncio.Event().wait()  # the other way goes on, and its end is the end

    async def say_goodbye(self) -> None:
        try:
            if self._protocol.state is State.OPEN:
                self._protocol.send_close(CloseCode.NORMAL_CLOSURE)
            await self._flush()
        except ConnectionError:
            return

    async def _take(self, frame: WebSocketFrame) -> None:
        if frame.opcode is not Opcode.CONT:
            self._is_text = frame.opcode is Opcode.TEXT
        if not self._is_text:
            self._on_bytes()
            await self._stream.write(frame.data)
        elif self._half_closes and not frame.data:
            self._has_visitor_ended = True
            self._stream.write_end()

    async def _send(self, data: Buffer) -> None:
        self._protocol.send_binary(data)
        await self._flush()

    async def _flush(self) -> None:
        parts = [part for part in self._protocol.data_to_send() if part]
        if parts:
            await self._visitor.write(*parts)
