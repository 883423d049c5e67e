"""Sockets of a tunnel. A wait for one of them ends when the other one breaks, so that no thread waits for nobody."""

import contextlib
import select
import socket
import struct
import threading
from contextlib import AbstractContextManager

from determined.wire.tunnel import Buffer

_GONE = select.POLLERR | select.POLLHUP | getattr(select, "POLLRDHUP", 0)


class MasterSocket:
    """Connection to the master. One thread reads; every thread may write."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._sock = sock
        self._writing = threading.Lock()
        # OpenSSL must not read and write in two threads at once.
        self._using: AbstractContextManager[object] = contextlib.nullcontext()
        self._must_read: type[OSError] = BlockingIOError
        self._must_write: type[OSError] = BlockingIOError
        if type(sock) is not socket.socket:
            import ssl

            self._using = threading.Lock()
            self._must_read, self._must_write = ssl.SSLWantReadError, ssl.SSLWantWriteError

    def fileno(self) -> int:
        return self._sock.fileno()

    def receive(self, into: memoryview, seconds: float | None) -> int:
        """Fill a buffer and return the number of bytes, 0 when the master has hung up. Raises OSError, TimeoutError."""
        while True:
            try:
                with self._using:
                    return self._sock.recv_into(into)
            except self._must_read:
                _wait(self._sock, select.POLLIN, seconds)
            except self._must_write:
                _wait(self._sock, select.POLLOUT, seconds)

    def send(self, data: Buffer) -> None:
        """Send all of it; another thread's bytes go before or after it. Raises OSError."""
        view = memoryview(data)
        with self._writing:
            while view:
                view = view[self._send_some(view) :]

    def hang_up(self) -> None:
        """Wake up whoever waits on it."""
        with contextlib.suppress(OSError):
            # not of the TLS layer, which other threads may be using: the connection below it ends
            socket.socket.shutdown(self._sock, socket.SHUT_RDWR)

    def close(self) -> None:
        self._sock.close()

    def _send_some(self, view: memoryview) -> int:
        while True:
            try:
                with self._using:
                    return self._sock.send(view)
            except self._must_write:
                _wait(self._sock, select.POLLOUT, None)
            except self._must_read:
                _wait(self._sock, select.POLLIN, None)


class ServiceSocket:
    """Connection to what the task serves. One thread reads, one writes."""

    def __init__(self, sock: socket.socket, master: MasterSocket) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._master = master

    def receive(self, into: memoryview) -> int:
        while True:
            try:
                return self._sock.recv_into(into)
            except BlockingIOError:
                _wait(self._sock, select.POLLIN, None)

    def send(self, data: Buffer) -> None:
        """Send all of it. Raises OSError, also when the master hangs up while the service takes nothing."""
        view = memoryview(data)
        while view:
            try:
                view = view[self._sock.send(view) :]
            except BlockingIOError:
                self._wait_until_writable()

    def end(self) -> None:
        """Tell the service that nothing more comes."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_WR)

    def hang_up(self) -> None:
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def reset_at_close(self) -> None:
        """End with a reset: an ordinary end would wait behind bytes that the service does not take."""
        with contextlib.suppress(OSError):
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def close(self) -> None:
        self._sock.close()

    def _wait_until_writable(self) -> None:
        poll = select.poll()
        poll.register(self._sock, select.POLLOUT)
        poll.register(self._master.fileno(), _GONE)
        if any(events & _GONE for fd, events in poll.poll() if fd == self._master.fileno()):
            raise ConnectionResetError("the master has hung up")


def _wait(sock: socket.socket, event: int, seconds: float | None) -> None:
    poll = select.poll()
    poll.register(sock, event)
    if not poll.poll(None if seconds is None else seconds * 1000):
        raise TimeoutError(f"nothing was received for {seconds:g} s")
