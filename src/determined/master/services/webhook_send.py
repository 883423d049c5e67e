"""Requests of webhooks: signed, to checked addresses, with a time limit, following no redirect."""

import asyncio
import hmac
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache

import httptools

from determined.master.services.webhook_address import AddressRule, Receiver, Unreachable, parse_url, resolve

TIMEOUT_S = 10.0
_MAX_READ = 64 * 1024  # bytes of an answer, head and body
_MAX_TEXT = 500  # characters of it that are kept
_SIGNATURE = "X-Determined-AI-Signature"


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a receiver: its status and the beginning of its body."""

    status: int
    text: str

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


def signature(key: str, timestamp: int, body: bytes) -> str:
    """Return the hexadecimal HMAC-SHA256 of "<timestamp>,<body>"."""
    return hmac.digest(key.encode(), f"{timestamp},".encode() + body, "sha256").hex()


def signed_headers(key: str, now: datetime, body: bytes) -> dict[str, str]:
    timestamp = int(now.timestamp())
    return {
        "Content-Type": "application/json; charset=UTF-8",
        f"{_SIGNATURE}-Timestamp": str(timestamp),
        _SIGNATURE: signature(key, timestamp, body),
    }


async def post(url: str, body: bytes, headers: dict[str, str], rule: AddressRule) -> Answer:
    """Send a request over a connection of its own; see ReceiverConnection.post."""
    connection = ReceiverConnection(rule, keeps=False)
    try:
        return await connection.post(url, body, headers)
    finally:
        connection.close()


@dataclass(slots=True)
class ReceiverConnection:
    """Requests one after the other to receivers under one rule; a receiver that lets us gets them over one connection.

    An address is checked when it is connected to, so a connection that is kept leads where webhooks may call.
    """

    rule: AddressRule
    keeps: bool = True
    _to: tuple[bool, str, int] | None = None  # TLS, host and port
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, url: str, body: bytes, headers: dict[str, str]) -> Answer:
        """Send a request and return what is answered, whatever its status.

        Raises:
            AddressRefused: webhooks may not call that address. Unreachable: no answer within the time limit.
        """
        receiver, reply = parse_url(url), _Reply()
        try:
            async with asyncio.timeout(TIMEOUT_S):
                await self._exchange(receiver, _request(receiver, body, headers, keeps=self.keeps), reply)
        except TimeoutError:
            if reply.status is None:
                raise Unreachable(f"{receiver.host_header} has not answered within {TIMEOUT_S:.0f} s") from None
        except httptools.HttpParserUpgrade:  # 101, which is no HttpParserError
            reply.is_kept = False
            if reply.status is None:
                raise Unreachable(f"{receiver.host_header}: the receiver answers 101 Switching Protocols") from None
        except (OSError, httptools.HttpParserError) as error:
            reply.is_kept = False
            if reply.status is None:
                raise Unreachable(f"{receiver.host_header} does not answer: {error}") from None
        finally:
            if not (self.keeps and reply.is_complete and reply.is_kept):
                self.close()
        if reply.status is None:
            raise Unreachable(f"{receiver.host_header} has hung up without an answer in HTTP")
        return Answer(reply.status, reply.text)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].transport.abort()  # a receiver that never closes must not hold us
        self._streams = None

    async def _exchange(self, receiver: Receiver, request: bytes, reply: "_Reply") -> None:
        if await self._is_open(receiver):
            try:
                await self._ask(request, reply)
            except OSError:
                if reply.has_begun:
                    raise
            if reply.has_begun:
                return
            # closed as the request came, with no byte of an answer: a request that nobody answers is sent again
        self.close()
        self._to = receiver.is_tls, receiver.host, receiver.port
        self._streams = await _connect(receiver, await resolve(receiver, self.rule))
        await self._ask(request, reply)

    async def _is_open(self, receiver: Receiver) -> bool:
        """Say whether the connection that was kept leads to this receiver and is silent."""
        if self._streams is None or self._to != (receiver.is_tls, receiver.host, receiver.port):
            return False
        try:
            async with asyncio.timeout(0):
                await self._streams[0].read(1)
        except TimeoutError:
            return True
        except OSError:
            return False
        return False  # its end, or bytes that would be taken for the next answer

    async def _ask(self, request: bytes, reply: "_Reply") -> None:
        assert self._streams is not None
        reader, writer = self._streams
        writer.write(request)
        await writer.drain()
        parser, count = httptools.HttpResponseParser(reply), 0
        reply.parser = parser
        while not reply.is_complete and count < _MAX_READ:
            data = await reader.read(_MAX_READ)
            if not data:
                return
            count += len(data)
            reply.has_begun = True
            parser.feed_data(data)


def _request(receiver: Receiver, body: bytes, headers: dict[str, str], *, keeps: bool) -> bytes:
    fixed = {
        "Host": receiver.host_header,
        "User-Agent": "determined-webhook",
        "Connection": "keep-alive" if keeps else "close",
        "Content-Length": str(len(body)),
    }
    lines = [f"POST {receiver.target} HTTP/1.1", *(f"{name}: {value}" for name, value in (fixed | headers).items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def _connect(receiver: Receiver, addresses: Sequence[str]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the first address that lets us; the name is not looked up again."""
    failure: OSError | None = None
    for address in addresses:
        try:
            return await asyncio.open_connection(
                address,
                receiver.port,
                ssl=_tls() if receiver.is_tls else None,
                server_hostname=receiver.host if receiver.is_tls else None,
            )
        except OSError as error:
            failure = error
    raise failure or OSError("it has no address")


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


@dataclass(slots=True)
class _Reply:
    """Callbacks of the parser. Interim answers (1xx) are passed over; what follows the answer ends the connection."""

    parser: httptools.HttpResponseParser | None = None
    status: int | None = None
    is_complete: bool = False
    has_begun: bool = False
    is_kept: bool = False  # whether the receiver takes another request over the same connection
    _body: bytearray = field(default_factory=bytearray)

    @property
    def text(self) -> str:
        return bytes(self._body).decode(errors="replace").replace("\0", "")[:_MAX_TEXT]

    def on_message_begin(self) -> None:
        if self.is_complete:
            self.is_kept = False  # more than was asked for

    def on_headers_complete(self) -> None:
        if self.is_complete:
            return
        assert self.parser is not None
        status = int(self.parser.get_status_code())
        self.status = status if status >= 200 else None

    def on_body(self, data: bytes) -> None:
        if not self.is_complete and len(self._body) < _MAX_READ:
            self._body += data

    def on_message_complete(self) -> None:
        if self.is_complete:
            return
        assert self.parser is not None
        self.is_complete = self.status is not None
        self.is_kept = self.is_complete and self.parser.should_keep_alive()
