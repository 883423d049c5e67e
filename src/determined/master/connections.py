"""Connections have deadlines and a number: a request must arrive in time, and nobody holds all descriptors.

uvicorn waits for ever for the rest of a request and takes as many connections as there are descriptors. Here a head
must be complete within HEAD_SECONDS, and a body must keep moving. Where a new connection would be one too many, the
oldest one that waits for a request is closed for it; only where all of them are at work the new one is refused. So is
the oldest of too many from one address that have not sent a whole head.
Long polls, streams and WebSockets are requests at work: they have no deadline.

A handler finds its connection in the scope (`connection_of`). It may take it over where the client asked for that:
WebSockets of the proxy are passed on as they are, and tunnels speak frames of their own.
"""

import asyncio
import resource
from collections import Counter, OrderedDict
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 20.0
MAX_HEAD_BYTES = 64 * 1024
WINDOW_SECONDS = 30.0
WINDOW_BYTES = 6000  # of a body, that must arrive within each window
SWEEP_SECONDS = 1.0
PER_PEER = 1024  # connections from one address; programs of many users share the loopback one
UNPROVEN_PER_PEER = 1024  # connections from one address, loopback too, that have not sent a whole head yet
WANTED_DESCRIPTORS = 65_536
_RESERVED = 256  # descriptors for the database, logs, checkpoints and runners' files
_KEY = "determined.connection"
_OWN_UPGRADE = b"determined-"  # protocols of ours begin so
_PROXIED = b"/proxy/"
_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def raise_descriptor_limit() -> int:
    """Let this process open as many files as the system allows it; the soft limit is often 1024. Returns the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, WANTED_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return WANTED_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


class Connections:
    """Open connections of a server, WebSockets too."""

    def __init__(self, descriptors: int | None = None) -> None:
        limit = descriptors or resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self.most = max(16, limit - min(_RESERVED, limit // 2))
        self._peers: Counter[str] = Counter()
        self._unproven_peers: Counter[str] = Counter()
        # Those that wait for a request: such as have never made one are closed before such as may make another.
        self._unproven: OrderedDict[BoundedProtocol, None] = OrderedDict()
        self._idle: OrderedDict[BoundedProtocol, None] = OrderedDict()
        self._open: set[BoundedProtocol] = set()

    def admit(self, one: "BoundedProtocol") -> bool:
        """Return whether there is room for one more connection, making room if need be."""
        peer = one.peer
        if self._peers[peer] >= self._most_of(peer) and not self._close_one(peer):
            return False
        if len(self._open) >= self.most and not self._close_one(None):
            return False
        if self._unproven_peers[peer] >= UNPROVEN_PER_PEER:
            self._close_one(peer)
        self._open.add(one)
        self._peers[peer] += 1
        self._unproven[one] = None
        self._unproven_peers[peer] += 1
        return True

    def at_work(self, one: "BoundedProtocol") -> None:
        if one in self._unproven:
            del self._unproven[one]
            _count_down(self._unproven_peers, one.peer)
        self._idle.pop(one, None)

    def waits(self, one: "BoundedProtocol") -> None:
        if one in self._open:
            self._idle[one] = None

    def left(self, one: "BoundedProtocol") -> None:
        self.at_work(one)
        if one in self._open:
            self._open.discard(one)
            _count_down(self._peers, one.peer)

    async def sweep(self) -> None:
        """End connections that are late, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            for one in list(self._open):
                one.end_if_late(loop.time())

    def _most_of(self, peer: str) -> int:
        return self.most - self.most // 10 if _is_loopback(peer) else min(PER_PEER, self.most)

    def _close_one(self, peer: str | None) -> bool:
        for waiting in (self._unproven, self._idle):
            one = next((one for one in waiting if peer is None or one.peer == peer), None)
            if one is not None:
                one.transport.abort()
                self.left(one)
                return True
        return False


class BoundedProtocol(HttpToolsProtocol):
    """Connection with time limits. Times are the loop's."""

    def __init__(self, *args: Any, limits: Connections, **options: Any) -> None:
        super().__init__(*args, **options)
        self._limits = limits
        self.peer = ""
        self._head_since: float | None = None
        self._head_bytes = 0
        self._body_since: float | None = None
        self._body_bytes = 0
        self._awaits_takeover = False
        self._is_taken_over = False
        self._early: list[bytes] = []  # received before the takeover

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        super().connection_made(transport)
        self.peer = self.client[0] if self.client else ""
        self._head_since = self.loop.time()
        if not self._limits.admit(self):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._limits.left(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._awaits_takeover:
            self._early.append(data)
            self.transport.pause_reading()
            return
        super().data_received(data)
        if self._head_since is None or self.transport.is_closing():
            return
        self._head_bytes += len(data)
        if self._head_bytes > MAX_HEAD_BYTES:
            self.transport.write(_LONG)
            self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._head_since is None:
            self._head_since = self.loop.time()
            self._head_bytes = 0

    def on_headers_complete(self) -> None:
        self._head_since = None
        self._body_since, self._body_bytes = self.loop.time(), 0
        self._limits.at_work(self)
        self._awaits_takeover = self.parser.should_upgrade() and self._is_raw()
        extensions: Any = {_KEY: self}
        self.scope["extensions"] = extensions
        super().on_headers_complete()
        if self._awaits_takeover:
            self.cycle.keep_alive = False  # an answer in place of the takeover is the last one

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._body_since = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.pipeline:
            self._limits.waits(self)

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection to another protocol, whose end is then ours."""
        self._body_since = None
        super().handle_websocket_upgrade()
        self._end_with(self.transport.get_protocol())

    @property
    def can_be_taken_over(self) -> bool:
        return self._awaits_takeover and not self.transport.is_closing()

    def take_over(self, successor: asyncio.Protocol) -> None:
        """Hand the connection to another protocol; nothing more is answered in HTTP."""
        self._is_taken_over = True
        self._body_since = None
        self.cycle.disconnected = True
        self._end_with(successor)
        self.transport.set_protocol(successor)
        successor.connection_made(self.transport)
        early, self._early = self._early, []
        for data in early:
            successor.data_received(data)
        self.transport.resume_reading()

    def break_off(self) -> None:
        """End an answer in the middle, so that the client sees that it is not whole."""
        self.cycle.disconnected = True
        self.transport.abort()

    def lift_body_deadline(self) -> None:
        """Let the body of this request take its time: the app that reads it decides."""
        self._body_since = None

    def shutdown(self) -> None:
        if self._is_taken_over:
            self.transport.close()
        else:
            super().shutdown()

    def _is_raw(self) -> bool:
        upgrade = self._get_upgrade() or b""
        return upgrade.startswith(_OWN_UPGRADE) or (upgrade == b"websocket" and self.url.startswith(_PROXIED))

    def _should_upgrade(self) -> bool:
        return super()._should_upgrade() and not self._is_raw()

    def _unsupported_upgrade_warning(self) -> None:
        if not self._awaits_takeover:
            super()._unsupported_upgrade_warning()

    def _end_with(self, successor: Any) -> None:
        lost = successor.connection_lost

        def connection_lost(exc: Exception | None) -> None:
            self._limits.left(self)
            self.connections.discard(self)
            lost(exc)

        successor.connection_lost = connection_lost

    def end_if_late(self, now: float) -> None:
        if self._head_since is not None and now - self._head_since > HEAD_SECONDS:
            if self._head_bytes and not self.transport.is_closing():
                self.transport.write(_LATE)
            self.transport.close()
        elif self._body_since is not None and now - self._body_since > WINDOW_SECONDS:
            if self._body_bytes < WINDOW_BYTES and not self.flow.read_paused:
                self.transport.abort()  # reads as a client that left, which ends its handler in order
            self._body_since, self._body_bytes = now, 0


def connection_of(scope: Mapping[str, Any]) -> BoundedProtocol | None:
    """Return the connection of a request; None under another server than ours."""
    connection = (scope.get("extensions") or {}).get(_KEY)
    return connection if isinstance(connection, BoundedProtocol) else None


def _count_down(counts: Counter[str], key: str) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]


def _is_loopback(peer: str) -> bool:
    try:
        return ip_address(peer).is_loopback
    except ValueError:
        return True  # a socket without an address is of this machine
