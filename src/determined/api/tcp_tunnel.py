"""TCP connections to services of tasks, in the binary messages of a WebSocket to the master's proxy."""

import contextlib
import os
import select
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from urllib.parse import quote

from urllib3.connection import HTTPConnection
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import Event, State
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from determined._backoff import Backoff
from determined.api.errors import error_of
from determined.api.session import Session
from determined.errors import MasterNotFound, Unavailable
from determined.wire.tunnel import TCP_SUBPROTOCOL

_PIECE = 64 * 1024
_ENOUGH = 512 * 1024  # bytes on their way, at which the side that they come from waits
_ANSWER_SECONDS = 90.0  # the master itself waits for a service that does not listen yet
_LATER = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
_AWAY = Backoff(first=0.5, limit=5.0)


class TcpTunnel:
    """Connection to a service. `carry` moves bytes until one side ends."""

    def __init__(self, session: Session, service: str) -> None:
        """Connect to `<task id>` or `<task id>:<port>`.

        Raises:
            MasterNotFound: nobody answers. DeterminedError: the class that the master raised.
        """
        url = f"{session.master_url}/proxy/{quote(service, safe=':')}/"
        self._connection: HTTPConnection = session.connection()
        self._early: list[Event] = []  # what came with the answer
        self._protocol = ClientProtocol(
            parse_uri("ws" + url.removeprefix("http")), subprotocols=[Subprotocol(TCP_SUBPROTOCOL)], max_size=None
        )
        try:
            self._sock: socket.socket = self._connection.sock
            self._sock.settimeout(_ANSWER_SECONDS)
            with contextlib.suppress(OSError):
                self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._shake_hands(session, url)
        except OSError as e:
            self.close()
            raise MasterNotFound(f"{session.master_url} broke off the connection to {service}: {e}") from e
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def carry(self, source: int, sink: int, end_sink: Callable[[], None]) -> None:
        """Carry bytes from the descriptor `source` to the service, and from the service to `sink`.

        `end_sink` is called when the service has no more to say. Returns when both sides have ended, or the connection
        has. Raises OSError when a descriptor breaks.
        """
        self._sock.setblocking(False)
        _Carrier(self._sock, self._protocol, source, sink, end_sink).run(self._early)

    def _shake_hands(self, session: Session, url: str) -> None:
        request = self._protocol.connect()
        if session.token:
            request.headers["Authorization"] = f"Bearer {session.token}"
        self._protocol.send_request(request)
        self._sock.sendall(b"".join(self._protocol.data_to_send()))
        response = self._await_response()
        if response.status_code != 101:
            raise error_of(response.status_code, bytes(response.body), url)
        if self._protocol.handshake_exc is not None:
            raise MasterNotFound(f"{url} does not answer as a master does: {self._protocol.handshake_exc}")

    def _await_response(self) -> Response:
        while True:
            data = self._sock.recv(_PIECE)
            if data:
                self._protocol.receive_data(data)
            else:
                self._protocol.receive_eof()
            events = self._protocol.events_received()
            if events and isinstance(events[0], Response):
                self._early = events[1:]
                return events[0]
            if not data:
                raise ConnectionResetError("it was closed before an answer")


def open_when_ready(session: Session, service: str, seconds: float) -> TcpTunnel:
    """Connect, and try again for so long while the task or its service does not run yet. Raises as `TcpTunnel`."""
    deadline, delays = time.monotonic() + seconds, _AWAY.delays()
    while True:
        try:
            return TcpTunnel(session, service)
        except (Unavailable, MasterNotFound):
            if time.monotonic() >= deadline:
                raise
            time.sleep(next(delays))


class _Carrier:
    """Loop over two directions in one thread: TLS connections must not be used by two at once."""

    def __init__(
        self, sock: socket.socket, protocol: ClientProtocol, source: int, sink: int, end_sink: Callable[[], None]
    ) -> None:
        self._sock = sock
        self._protocol = protocol
        self._source, self._sink, self._end_sink = source, sink, end_sink
        self._half_closes = protocol.subprotocol == TCP_SUBPROTOCOL
        self._to_master, self._to_sink = bytearray(), bytearray()
        self._is_text = False  # the message that is being received
        self._has_source_ended = self._has_sink_ended = self._is_over = False

    def run(self, early: Sequence[Event]) -> None:
        self._take(early)
        while not self._is_done():
            events = self._wait()
            if events.get(self._sink, 0) & ~select.POLLIN and self._to_sink:
                self._write_sink()
            if events.get(self._sock.fileno(), 0) & ~select.POLLOUT:
                self._receive()
            if events.get(self._source, 0) & ~select.POLLOUT and not self._has_source_ended:
                self._read_source()
            self._end_if_both_have()
            self._send()

    def _is_done(self) -> bool:
        is_closed = self._protocol.state is not State.OPEN and not self._to_master
        return not self._to_sink and (self._is_over or is_closed)

    def _wait(self) -> dict[int, int]:
        wanted: dict[int, int] = {}
        if len(self._to_sink) < _ENOUGH:
            wanted[self._sock.fileno()] = select.POLLIN
        if self._to_master:
            wanted[self._sock.fileno()] = wanted.get(self._sock.fileno(), 0) | select.POLLOUT
        if not self._has_source_ended and len(self._to_master) < _ENOUGH:
            wanted[self._source] = select.POLLIN
        if self._to_sink:
            wanted[self._sink] = wanted.get(self._sink, 0) | select.POLLOUT
        poll = select.poll()
        for descriptor, events in wanted.items():
            poll.register(descriptor, events)
        is_buffered = isinstance(self._sock, ssl.SSLSocket) and self._sock.pending() > 0
        found = dict(poll.poll(0 if is_buffered else None))
        if is_buffered:
            found[self._sock.fileno()] = found.get(self._sock.fileno(), 0) | select.POLLIN
        return found

    def _receive(self) -> None:
        try:
            data = self._sock.recv(_PIECE)
        except _LATER:
            data = None
        if data:
            self._protocol.receive_data(data)
        elif data is not None:
            self._protocol.receive_eof()
            self._is_over = True
        self._take(self._protocol.events_received())

    def _take(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, Frame):
                self._take_frame(event)
        if self._to_sink:
            self._write_sink()
        elif self._has_sink_ended:
            self._end_sink()

    def _take_frame(self, frame: Frame) -> None:
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY):
            self._is_text = frame.opcode is Opcode.TEXT
        if frame.opcode is Opcode.CLOSE:
            self._is_over = True
        elif frame.opcode in (Opcode.BINARY, Opcode.CONT) and not self._is_text:
            self._to_sink += frame.data
        elif frame.opcode is Opcode.TEXT and not frame.data:
            self._has_sink_ended = True

    def _read_source(self) -> None:
        try:
            data = os.read(self._source, _PIECE)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if data:
            self._protocol.send_binary(data)
            return
        self._has_source_ended = True
        if self._half_closes:
            self._protocol.send_text(b"")
        else:
            self._protocol.send_close(1000)

    def _write_sink(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._to_sink:
                del self._to_sink[: os.write(self._sink, self._to_sink[:_PIECE])]
        if not self._to_sink and self._has_sink_ended:
            self._end_sink()

    def _end_if_both_have(self) -> None:
        if self._has_source_ended and self._has_sink_ended and self._protocol.state is State.OPEN:
            self._protocol.send_close(1000)

    def _send(self) -> None:
        for part in self._protocol.data_to_send():
            self._to_master += part
        try:
            while self._to_master:
                del self._to_master[: self._sock.send(self._to_master[:_PIECE])]
        except _LATER:
            return
