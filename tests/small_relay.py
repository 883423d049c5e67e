"""Somebody on a port who passes every byte on to a master and back, and remembers what callers said."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit


class Relay:
    """`target`: the address that it passes on to; None hangs up on callers."""

    def __init__(self, target: str | None, port: int = 0) -> None:
        self.target = target
        self.heard = bytearray()
        self._listener = socket.create_server(("127.0.0.1", port))
        self._connections: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads[0].start()

    def saw(self, part: bytes) -> bool:
        return part in bytes(self.heard)

    def close(self) -> None:
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
        for one, other, heard in ((caller, master, self.heard), (master, caller, bytearray())):
            thread = threading.Thread(target=_pump, args=(one, other, heard))
            self._threads.append(thread)
            thread.start()


def _pump(one: socket.socket, other: socket.socket, heard: bytearray) -> None:
    with contextlib.suppress(OSError):
        while data := one.recv(65536):
            heard += data
            other.sendall(data)
    for sock in (one, other):
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def relaying(target: str | None, port: int = 0) -> Iterator[Relay]:
    relay = Relay(target, port)
    try:
        yield relay
    finally:
        relay.close()
