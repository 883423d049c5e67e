"""Somebody on a port who passes every byte on to a master and back, and remembers what callers said."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit


class Relay:
    """`target`: the address that it passes on to; None hangs up on callers.

    `most`: so many bytes of answers are passed on, the rest never comes.
    """

    def __init__(self, target: str | None, port: int = 0, most: int | None = None) -> None:
        self.target = target
        self.left = most
        self._closing = threading.Event()
        self.heard = bytearray()
        self._listener = socket.create_server(("127.0.0.1", port))
        self._connections: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads[0].start()

    def saw(self, part: bytes) -> bool:
        return part in bytes(self.heard)

    def close(self) -> None:
        self._closing.set()
        for sock in (self._listener, *self._connections):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for sock in (self._listener, *self._connections):
            sock.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                caller, _ = self._listener.accept()
                self._connections.append(caller)
                self._pass_on(caller)

    def _pass_on(self, caller: socket.socket) -> None:
        url = urlsplit(self.target or "")
        try:
            master = socket.create_connection((url.hostname or "", url.port or 0), 5)
        except OSError:
            caller.shutdown(socket.SHUT_RDWR)
            return
        self._connections.append(master)
        for work in (lambda: _pump(caller, master, self._listen), lambda: _pump(master, caller, self._answer)):
            thread = threading.Thread(target=work)
            self._threads.append(thread)
            thread.start()

    def _listen(self, data: bytes) -> bytes:
        self.heard += data
        return data

    def _answer(self, data: bytes) -> bytes:
        """Return what of an answer is passed on; waits for the end where nothing more is."""
        if self.left is None:
            return data
        data, self.left = data[: self.left], max(0, self.left - len(data))
        if not data:
            self._closing.wait()
        return data


def _pump(one: socket.socket, other: socket.socket, passed: Callable[[bytes], bytes]) -> None:
    with contextlib.suppress(OSError):
        while data := one.recv(65536):
            other.sendall(passed(data))
    for sock in (one, other):
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def relaying(target: str | None, port: int = 0, most: int | None = None) -> Iterator[Relay]:
    relay = Relay(target, port, most)
    try:
        yield relay
    finally:
        relay.close()
