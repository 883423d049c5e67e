"""The tunnel of a task: connections that this runner holds open to the master, for streams to the task's services.

A few connections wait for a stream (`_FREE`); each time that one is taken, another is opened. After the master was away
they are opened again. Only services that the task has declared are connected.
"""

import contextlib
import logging
import socket
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from determined.errors import DeterminedError
from determined.exec.master_link import STALE, MasterLink
from determined.exec.runner.master_retry import MASTER_AWAY
from determined.exec.runner.tunnel_socket import MasterSocket, ServiceSocket
from determined.wire.codec import from_json
from determined.wire.report import Service
from determined.wire.tunnel import HEADER_BYTES, BadFrame, Buffer, Frame, FrameReader, OpenStream, frame, header

logger = logging.getLogger(__name__)

_FREE = 2
_MAX_CONNECTIONS = 256 + _FREE
_CONNECT_SECONDS = 10.0
_SILENT_SECONDS = 60.0  # the master pings each 20 s
_TO_SERVICE = 64 * 1024
_TO_MASTER = 256 * 1024


class Tunnel:
    """Tunnel of a task. `socket_path` tells where the Unix socket of a service is, if it has one."""

    def __init__(
        self,
        link: MasterLink,
        services: Iterable[Service],
        socket_path: Callable[[str], Path | None] = lambda service_id: None,
    ) -> None:
        self._link = link
        self._services = {service.id: service for service in services}
        self._socket_path = socket_path
        self._changed = threading.Condition()
        self._stopped = threading.Event()
        self._connections: set[_Connection] = set()
        self._waiting = 0  # streams in the master, without a connection

    def start(self, ended: threading.Event) -> None:
        """Keep it open, in threads, until the task has ended."""
        threading.Thread(target=self._keep_connected, name="tunnel", daemon=True).start()
        threading.Thread(target=self._stop_at_end, args=(ended,), name="end of tunnel", daemon=True).start()

    def _stop_at_end(self, ended: threading.Event) -> None:
        ended.wait()
        self.stop()

    def stop(self) -> None:
        with self._changed:
            self._stopped.set()
            self._changed.notify_all()
            connections = list(self._connections)
        for connection in connections:
            connection.hang_up()

    def add(self, service: Service) -> None:
        """Serve one more service from now on."""
        self._services = {**self._services, service.id: service}

    def connect(self, service_id: str) -> socket.socket:
        """Connect to a service. Raises OSError, its text for users."""
        service = self._services.get(service_id)
        if service is None:
            raise ConnectionRefusedError(f"this task has no service {service_id!r}")
        if service.port:
            return _dial_port(service.port)
        path = self._socket_path(service_id)
        if path is None:
            raise ConnectionRefusedError("this task has no socket of its own")
        return _dial_socket(path)

    def taken(self, waiting: int) -> None:
        with self._changed:
            self._waiting = waiting
            self._changed.notify()

    def left(self, connection: "_Connection") -> None:
        with self._changed:
            self._connections.discard(connection)
            self._changed.notify()

    def _keep_connected(self) -> None:
        delays = MASTER_AWAY.delays()
        while self._wait_until_missing():
            try:
                sock = self._link.tunnel()
            except STALE as e:
                logger.info("tunnel: %s", e)
                return
            except DeterminedError as e:
                logger.warning("tunnel: %s", e)
                self._stopped.wait(next(delays))
                continue
            delays = MASTER_AWAY.delays()
            self._begin(_Connection(self, MasterSocket(sock)))

    def _wait_until_missing(self) -> bool:
        """Return when another connection is wanted; False when the tunnel is stopped."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped.is_set() or self._is_missing())
            return not self._stopped.is_set()

    def _is_missing(self) -> bool:
        free = sum(connection.is_free for connection in self._connections)
        return free < _FREE + self._waiting and len(self._connections) < _MAX_CONNECTIONS

    def _begin(self, connection: "_Connection") -> None:
        with self._changed:
            self._waiting = max(0, self._waiting - 1)
            self._connections.add(connection)
        connection.start()
        if self._stopped.is_set():
            connection.hang_up()


class _Connection:
    """Connection to the master, and the stream that it carries."""

    def __init__(self, tunnel: Tunnel, master: MasterSocket) -> None:
        self._tunnel = tunnel
        self._master = master
        self._stream: _Stream | None = None
        self.is_free = True

    def start(self) -> None:
        threading.Thread(target=self._run, name="tunnel connection", daemon=True).start()

    def hang_up(self) -> None:
        self._master.hang_up()

    def _run(self) -> None:
        try:
            self._serve()
        except (OSError, BadFrame) as e:
            logger.info("tunnel: a connection ended: %s", e)
        finally:
            self._tunnel.left(self)
            self._master.hang_up()
            if self._stream is not None:
                self._stream.finish()
            self._master.close()

    def _serve(self) -> None:
        buffer, frames = memoryview(bytearray(_TO_SERVICE)), FrameReader()
        while True:
            received = self._master.receive(buffer, _SILENT_SECONDS if self._stream is None else None)
            if not received:
                return
            for kind, payload in frames.feed(buffer[:received]):
                self._handle(kind, payload)

    def _handle(self, kind: Frame, payload: Buffer) -> None:
        if kind is Frame.OPEN:
            self._open(from_json(bytes(payload), OpenStream))
        elif kind is Frame.PING:
            self._master.send(frame(Frame.PONG))
        elif kind is Frame.DATA:
            if self._stream is not None:
                self._stream.send(payload)
        elif kind is Frame.END:
            self._end_of_master()
        elif kind is Frame.CLOSE:
            self._end_of_master(hang_up=True)
        else:
            raise BadFrame(f"a master sends no {kind.name}")

    def _open(self, asked: OpenStream) -> None:
        if self._stream is not None:
            self._stream.finish()
        self._stream, self.is_free = None, False
        self._tunnel.taken(asked.waiting)
        try:
            sock = self._tunnel.connect(asked.service)
        except OSError as e:
            self._master.send(frame(Frame.REFUSED, str(e).encode()[:1000]))
            return
        self._master.send(frame(Frame.ACCEPTED))
        self._stream = _Stream(ServiceSocket(sock, self._master), self._master, self._freed)
        self._stream.start()

    def _end_of_master(self, *, hang_up: bool = False) -> None:
        if self._stream is None:
            self._freed()
        else:
            self._stream.end(hang_up=hang_up)

    def _freed(self) -> None:
        self.is_free = True


class _Stream:
    """Stream between the master and a service. Its own thread carries what the service says."""

    def __init__(self, service: ServiceSocket, master: MasterSocket, on_end: Callable[[], None]) -> None:
        self._service = service
        self._master = master
        self._on_end = on_end
        self._is_broken = False  # the service takes nothing any more
        self._lock = threading.Lock()
        self._open_ends = 2
        self._has_ended = False
        self._thread = threading.Thread(target=self._carry, name="tunnel stream", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def send(self, data: Buffer) -> None:
        if self._is_broken:
            return
        try:
            self._service.send(data)
        except OSError:
            self._is_broken = True
            self._service.reset_at_close()

    def end(self, *, hang_up: bool) -> None:
        """Follow the master, which has ended its side, or the whole stream."""
        if hang_up:
            self._service.hang_up()
        else:
            self._service.end()
        if not self._has_ended:
            self._has_ended = True
            self._end_one()

    def finish(self) -> None:
        """End it, and wait until its thread has."""
        self.end(hang_up=True)
        self._thread.join()

    def _carry(self) -> None:
        buffer = memoryview(bytearray(HEADER_BYTES + _TO_MASTER))
        room = buffer[HEADER_BYTES:]
        with contextlib.suppress(OSError):  # of the master: the thread that reads from it notices
            while received := self._receive(room):
                buffer[:HEADER_BYTES] = header(Frame.DATA, received)
                self._master.send(buffer[: HEADER_BYTES + received])
            self._master.send(frame(Frame.END))
        self._end_one()

    def _receive(self, room: memoryview) -> int:
        try:
            return self._service.receive(room)
        except OSError:
            return 0

    def _end_one(self) -> None:
        with self._lock:
            self._open_ends -= 1
            is_over = self._open_ends == 0
        if is_over:
            self._service.close()
            self._on_end()


def _dial_port(port: int) -> socket.socket:
    try:
        sock = socket.create_connection(("127.0.0.1", port), _CONNECT_SECONDS)
    except OSError:
        try:
            sock = socket.create_connection(("::1", port), _CONNECT_SECONDS)
        except OSError:
            raise ConnectionRefusedError(f"nothing listens on port {port} of the task") from None
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def _dial_socket(path: Path) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.settimeout(_CONNECT_SECONDS)
        sock.connect(str(path))
    except OSError:
        sock.close()
        raise ConnectionRefusedError("the program of this task does not listen yet, or not any more") from None
    return sock
