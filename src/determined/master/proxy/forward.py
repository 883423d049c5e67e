"""Forwarding of one request to an app and of its answer, piece by piece; a WebSocket becomes two streams of bytes."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from determined.errors import BadGateway, Unavailable
from determined.master import supervise
from determined.master.proxy.answer_parser import AnswerHead, AnswerParser
from determined.master.proxy.http_headers import Header, is_chunked
from determined.master.proxy.raw_connection import RawConnection
from determined.master.proxy.splice import splice
from determined.master.proxy.tunnel_connection import Stream
from determined.master.proxy.visit_request import VisitRequest
from determined.wire.tunnel import Buffer

_BODILESS = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


@dataclass(slots=True)
class Forwarding:
    """Request on its way. `rewrite` makes the visitor's headers of the app's, `on_bytes` hears of each piece."""

    request: VisitRequest
    stream: Stream
    head: bytes
    rewrite: Callable[[list[Header]], list[Header]]
    on_bytes: Callable[[], None]
    has_client_left: bool = False
    has_answered: bool = False
    _sending: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Forward it.

        Raises:
            ServiceRefused, BadGateway, Unavailable: before anything is answered. An answer that breaks off later ends
                the visitor's connection.
        """
        self._sending = supervise.spawn(self._send_request(), name="body of a proxied request")
        try:
            await self._return_answer()
        except (BadGateway, ConnectionError) as e:
            if self.has_client_left:
                return
            if self.has_answered and self.request.connection is not None:
                self.request.connection.break_off()
            elif isinstance(e, ConnectionError):
                raise Unavailable("the connection to the task broke; try again") from e
            else:
                raise
        finally:
            await self._stop_sending()

    async def _stop_sending(self) -> None:
        if self._sending is not None:
            await supervise.stop(self._sending)

    async def _send_request(self) -> None:
        try:
            await self.stream.write(self.head)
            await self._send_body()
            while (await self.request.receive())["type"] != "http.disconnect":
                pass
            self.has_client_left = True
            self.stream.close()
        except ConnectionError:
            return  # who waits for the answer learns it as well

    async def _send_body(self) -> None:
        chunked, more = is_chunked(self.request.headers), True
        while more:
            message: Any = await self.request.receive()
            if message["type"] == "http.disconnect":
                self.has_client_left = True
                self.stream.close()
                raise ConnectionResetError("the visitor left")
            body, more = message.get("body", b""), message.get("more_body", False)
            if body:
                self.on_bytes()
                await self.stream.write(b"%x\r\n%b\r\n" % (len(body), body) if chunked else body)
        if chunked:
            await self.stream.write(b"0\r\n\r\n")

    async def _return_answer(self) -> None:
        parser = AnswerParser(self.request.method)
        while not parser.is_complete:
            pieces = await self._next_pieces(parser)
            if parser.after_upgrade is not None and parser.head is not None:
                await self._splice(parser.head, parser.after_upgrade)
                return
            if parser.head is not None and not self.has_answered:
                await self._answer(parser.head)
            for piece in pieces:
                body: Any = {"type": "http.response.body", "body": piece, "more_body": True}
                await self.request.send(body)
        await self.request.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _next_pieces(self, parser: AnswerParser) -> Sequence[Buffer]:
        data = await self.stream.read()
        if data:
            self.on_bytes()
            return parser.feed(data)
        if parser.head is None:
            await self.stream.accepted()
        parser.end()
        return ()

    async def _answer(self, head: AnswerHead) -> None:
        if not 200 <= head.status <= 599:
            raise BadGateway(f"the app answers with the status {head.status}")
        self.has_answered = True
        headers = self.rewrite(head.headers)
        if head.status in _BODILESS:
            headers = [header for header in headers if header[0] != b"content-length"]
        start: Any = {"type": "http.response.start", "status": head.status, "headers": headers}
        await self.request.send(start)

    async def _splice(self, head: AnswerHead, early: Buffer) -> None:
        connection = self.request.connection
        if connection is None or not connection.can_be_taken_over or head.status != 101:
            raise BadGateway("the app switches to another protocol, which was not asked for")
        await self._stop_sending()
        self.has_answered = True
        visitor = RawConnection()
        connection.take_over(visitor)
        lines = [b"HTTP/1.1 101 Switching Protocols", b"connection: Upgrade", b"upgrade: websocket"]
        lines += [name + b": " + value for name, value in self.rewrite(head.headers)]
        await visitor.write(b"\r\n".join([*lines, b"", b""]), early)
        await splice(visitor, self.stream, self.on_bytes)
