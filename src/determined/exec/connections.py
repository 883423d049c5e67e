"""A runner's connections to its master: kept open, handed from thread to thread, proved before the first request."""

import select
import socket
import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from determined.api import proof
from determined.api.exchange import Answer, exchange, switch
from determined.wire.report import LaunchFile

if TYPE_CHECKING:
    import ssl

_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 30.0  # to a request for another protocol
_UNVERIFIED = "noverify"


class Connections:
    """Pool of connections, thread-safe. One request occupies one connection; a free one waits for the next."""

    def __init__(self, launch: LaunchFile) -> None:
        self._launch = launch
        self._url = urlsplit(launch.master_url)
        self._claim = proof.Claim(launch.master_url, launch.allocation_id, launch.token)
        self._tls: ssl.SSLContext | None = None  # made at the first connection: a file that is missing may come
        self._idle: list[socket.socket] = []
        self._lock = threading.Lock()

    def request(
        self, method: str, path: str, *, headers: dict[str, str], body: bytes | None, seconds: float
    ) -> tuple[int, bytes]:
        """Send a request and return (status, body) of the answer. Redirections are not followed.

        Raises:
            OSError: nobody answers in time, or nobody who proves to be our master.
        """
        sock = self._take() or self._connect()
        try:
            sock.settimeout(seconds)
            answer = exchange(
                sock, method, self._url.path.rstrip("/") + path, {"Host": self._url.netloc, **headers}, body
            )
        except BaseException:
            sock.close()
            raise
        if answer.kept:
            with self._lock:
                self._idle.append(sock)
        else:
            sock.close()
        return answer.status, answer.body

    def switch(self, path: str, headers: dict[str, str]) -> socket.socket | Answer:
        """Ask for another protocol on a connection of its own; return it, or the answer that refuses it.

        Raises:
            OSError: as `request`.
        """
        sock = self._connect()
        try:
            sock.settimeout(_ANSWER_SECONDS)
            refusal = switch(sock, self._url.path.rstrip("/") + path, {"Host": self._url.netloc, **headers})
        except BaseException:
            sock.close()
            raise
        if refusal is None:
            return sock
        sock.close()
        return refusal

    def close(self) -> None:
        """Hang up on whatever waits for the next request."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    def _take(self) -> socket.socket | None:
        with self._lock:
            while self._idle:
                sock = self._idle.pop()
                # Readable without a question asked: the peer has hung up.
                if not select.select([sock], [], [], 0)[0]:
                    return sock
                sock.close()
        return None

    def _connect(self) -> socket.socket:
        sock = self._open()
        try:
            proof.demand(sock, self._claim)
        except BaseException:
            sock.close()
            raise
        return sock

    def _open(self) -> socket.socket:
        encrypted = self._url.scheme == "https"
        port = self._url.port or (443 if encrypted else 80)
        sock = socket.create_connection((self._url.hostname or "", port), _CONNECT_SECONDS)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return self._encrypted(sock) if encrypted else sock
        except BaseException:
            sock.close()
            raise

    def _encrypted(self, sock: socket.socket) -> socket.socket:
        name = self._launch.master_cert_name or self._url.hostname
        self._tls = self._tls or _tls(self._launch)
        return self._tls.wrap_socket(sock, server_hostname=name)


def _tls(launch: LaunchFile) -> "ssl.SSLContext":
    import ssl

    context = ssl.create_default_context()
    if launch.master_cert_file == _UNVERIFIED:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    # The file may hold the master's certificate, not its signer's.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if launch.master_cert_file:
        context.load_verify_locations(launch.master_cert_file)
    return context
