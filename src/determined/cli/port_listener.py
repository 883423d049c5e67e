"""A port of this machine that leads to a service of a task, through the master."""

import contextlib
import socket
import threading
from collections.abc import Callable

from determined.api.session import Session
from determined.api.tcp_tunnel import open_when_ready
from determined.errors import DeterminedError, FailedPrecondition

_PATIENCE_SECONDS = 300.0  # for a service that does not listen yet


class PortListener:
    """Listener on the loopback. Each connection to it becomes one to the service.

    Args:
        session: of the user who may use the service.
        service: `<task id>` or `<task id>:<port>`; a function is asked for it at each connection.
        port: of this machine; 0 picks a free one.
        warn: hears why a connection could not be made.
    """

    def __init__(
        self, session: Session, service: str | Callable[[], str], port: int, warn: Callable[[str], None]
    ) -> None:
        self._session = session
        self._service = service
        self._warn = warn
        try:
            self._listener = socket.create_server(("127.0.0.1", port), backlog=64)
        except (OSError, OverflowError) as e:
            raise FailedPrecondition(f"cannot listen on port {port} of 127.0.0.1: {e}; choose another") from e
        self.port: int = self._listener.getsockname()[1]

    def start(self) -> None:
        threading.Thread(target=self.serve, name=f"port {self.port}", daemon=True).start()

    def serve(self) -> None:
        """Accept connections until the listener is closed."""
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes up `accept`
        self._listener.close()

    def _carry(self, client: socket.socket) -> None:
        def end() -> None:
            client.shutdown(socket.SHUT_WR)

        with client, contextlib.suppress(OSError):
            client.setblocking(False)
            try:
                service = self._service if isinstance(self._service, str) else self._service()
                with contextlib.closing(open_when_ready(self._session, service, _PATIENCE_SECONDS)) as tunnel:
                    tunnel.carry(client.fileno(), client.fileno(), end)
            except DeterminedError as e:
                self._warn(f"port {self.port}: {e.message}")
