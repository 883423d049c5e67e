"""An app as a task may serve it: HTTP, WebSocket and raw TCP, each connection in a thread of its own."""

import base64
import contextlib
import hashlib
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

PING = b"\x89"  # first byte of such a frame


@dataclass
class Received:
    """One request as the app got it."""

    line: str
    headers: list[tuple[str, str]]
    body: bytes = b""

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key.lower() == name.lower()]
        assert len(found) < 2, found
        return found[0] if found else None


Behave = Callable[["Received", socket.socket, "SmallApp"], None]


@dataclass
class SmallApp:
    """Server on a loopback port. `behave` answers a request on its socket; by default it says Hello."""

    behave: Behave | None = None
    raw: Callable[[socket.socket], None] | None = None  # takes the whole connection
    received: list[Received] = field(default_factory=list)
    pings: int = 0

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._connections: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, ValueError):
            if self.raw is not None:
                self.raw(connection)
                return
            request = read_request(connection)
            self.received.append(request)
            (self.behave or say_hello)(request, connection, self)
        self._connections.discard(connection)


def read_request(connection: socket.socket) -> Received:
    raw = b""
    while b"\r\n\r\n" not in raw:
        raw += _some(connection)
    head, _, body = raw.partition(b"\r\n\r\n")
    line, *lines = head.decode("latin-1").split("\r\n")
    headers = [(name, value.strip()) for name, _, value in (one.partition(":") for one in lines)]
    request = Received(line, headers)
    length = int(request.header("content-length") or 0)
    if request.header("transfer-encoding") == "chunked":
        while not body.endswith(b"0\r\n\r\n"):
            body += _some(connection)
    while len(body) < length:
        body += _some(connection)
    request.body = body
    return request


def _some(connection: socket.socket) -> bytes:
    data = connection.recv(2**16)
    if not data:
        raise ValueError("closed")
    return data


def answer(connection: socket.socket, body: bytes, *headers: str, status: str = "200 OK") -> None:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    connection.sendall("\r\n".join(lines).encode("latin-1") + body)


def say_hello(request: Received, connection: socket.socket, _app: SmallApp) -> None:
    answer(connection, f"Hello {request.line}".encode(), "Content-Type: text/plain")


def echo_websocket(request: Received, connection: socket.socket, app: SmallApp) -> None:
    """Accept a WebSocket, then send back every byte as it came; pings are counted and not answered."""
    key = (request.header("sec-websocket-key") or "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
    lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
    lines += [f"Sec-WebSocket-Accept: {accept}", "", ""]
    connection.sendall("\r\n".join(lines).encode())
    while data := connection.recv(2**16):
        if data.startswith(PING):
            app.pings += 1  # sent back as it came, a client would take it for a fault and close
        else:
            connection.sendall(data)


def echo(connection: socket.socket) -> None:
    """Send back every byte, and the end after the end."""
    while data := connection.recv(2**16):
        connection.sendall(data)
