"""One request of a webhook: signed, to a checked address, with a time limit, following no redirect."""

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
    """Send a request and return what is answered, whatever its status.

    Raises:
        AddressRefused: webhooks may not call that address. Unreachable: no answer within the time limit.
    """
    receiver, reply = parse_url(url), _Reply()
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await _exchange(receiver, _request(receiver, body, headers), await resolve(receiver, rule), reply)
    except TimeoutError:
        if reply.status is None:
            raise Unreachable(f"{receiver.host_header} has not answered within {TIMEOUT_S:.0f} s") from None
    except (OSError, httptools.HttpParserError) as error:
        if reply.status is None:
            raise Unreachable(f"{receiver.host_header} does not answer: {error}") from None
    if reply.status is None:
        raise Unreachable(f"{receiver.host_header} has hung up without an answer in HTTP")
    return Answer(reply.status, reply.text)


def _request(receiver: Receiver, body: bytes, headers: dict[str, str]) -> bytes:
    fixed = {
        "Host": receiver.host_header,
        "User-Agent": "determined-webhook",
        "Connection": "close",
        "Content-Length": str(len(body)),
    }
    lines = [f"POST {receiver.target} HTTP/1.1", *(f"{name}: {value}" for name, value in (fixed | headers).items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def _exchange(receiver: Receiver, request: bytes, addresses: Sequence[str], reply: "_Reply") -> None:
    reader, writer = await _connect(receiver, addresses)
    try:
        writer.write(request)
        await writer.drain()
        parser, count = httptools.HttpResponseParser(reply), 0
        reply.parser = parser
        while not reply.is_complete and count < _MAX_READ:
            data = await reader.read(_MAX_READ)
            if not data:
                return
            count += len(data)
            parser.feed_data(data)
    finally:
        writer.transport.abort()  # a receiver that never closes must not hold us


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
    """Callbacks of the parser. Interim answers (1xx) are passed over."""

    parser: httptools.HttpResponseParser | None = None
    status: int | None = None
    is_complete: bool = False
    _body: bytearray = field(default_factory=bytearray)

    @property
    def text(self) -> str:
        return bytes(self._body).decode(errors="replace").replace("\0", "")[:_MAX_TEXT]

    def on_headers_complete(self) -> None:
        assert self.parser is not None
        status = int(self.parser.get_status_code())
        self.status = status if status >= 200 else None

    def on_body(self, data: bytes) -> None:
        if len(self._body) < _MAX_READ:
            self._body += data

    def on_message_complete(self) -> None:
        self.is_complete = self.status is not None
