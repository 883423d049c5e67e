"""Tunnels of all running tasks: which connections of their runners are free, and who waits for one."""

import asyncio
from collections import deque
from collections.abc import Sequence

from determined.errors import TooManyRequests, Unavailable
from determined.master.proxy.tunnel_connection import Stream, TunnelConnection
from determined.wire.report import Service

MAX_STREAMS = 256  # of one allocation
PING_SECONDS = 20.0
_FREE = 8  # connections that stay open without a stream; a page of an app opens about as many at once
_WAIT_SECONDS = 10.0  # for a connection, while a tunnel is there


class Tunnel:
    """Tunnel of one allocation."""

    def __init__(self, services: Sequence[Service]) -> None:
        self.services = {service.id: service for service in services}
        self.connections: set[TunnelConnection] = set()
        self.free: list[TunnelConnection] = []
        self.waiting: deque[asyncio.Future[TunnelConnection]] = deque()

    def add_free(self, connection: TunnelConnection) -> None:
        """Give a connection to who waits longest, or keep it for the next."""
        while self.waiting:
            turn = self.waiting.popleft()
            if not turn.done():
                turn.set_result(connection)
                return
        self.free.append(connection)

    def remove(self, connection: TunnelConnection) -> None:
        self.connections.discard(connection)
        if connection in self.free:
            self.free.remove(connection)
        while self.waiting and not self.connections:
            turn = self.waiting.popleft()
            if not turn.done():
                turn.set_exception(_not_connected())


class Tunnels:
    def __init__(self) -> None:
        self._tunnels: dict[str, Tunnel] = {}

    def connect(self, allocation_id: str, services: Sequence[Service]) -> TunnelConnection:
        """Make a connection of the tunnel of an allocation; `begin` counts it as free. Raises TooManyRequests."""
        tunnel = self._tunnels.setdefault(allocation_id, Tunnel(services))
        if len(tunnel.connections) >= MAX_STREAMS + _FREE:
            raise TooManyRequests(f"allocation {allocation_id} has {len(tunnel.connections)} connections already")

        def lose(lost: TunnelConnection) -> None:
            tunnel.remove(lost)
            if not tunnel.connections and self._tunnels.get(allocation_id) is tunnel:
                del self._tunnels[allocation_id]

        connection = TunnelConnection(tunnel.add_free, lose)
        tunnel.connections.add(connection)
        return connection

    def begin(self, allocation_id: str, connection: TunnelConnection) -> None:
        """Let streams use a connection that has been made."""
        self._tunnels[allocation_id].add_free(connection)

    def services(self, allocation_id: str) -> dict[str, Service] | None:
        """Return the services of an allocation by id; None while its runner is not connected."""
        tunnel = self._tunnels.get(allocation_id)
        return tunnel.services if tunnel is not None else None

    async def open(self, allocation_id: str, service_id: str) -> Stream:
        """Begin a stream to a service.

        Raises:
            Unavailable: no connection of the runner is there, or none became free in time.
            TooManyRequests: the allocation has as many streams as it may have.
        """
        tunnel = self._tunnels.get(allocation_id)
        if tunnel is None:
            raise _not_connected()
        if len(tunnel.connections) - len(tunnel.free) + len(tunnel.waiting) >= MAX_STREAMS:
            raise TooManyRequests(f"{MAX_STREAMS} connections to allocation {allocation_id} are open; close some first")
        while True:
            connection = tunnel.free.pop() if tunnel.free else await _next_free(tunnel, allocation_id)
            if not connection.is_lost:
                return connection.open(service_id, len(tunnel.waiting))

    async def keep_alive(self) -> None:
        """Ping free connections, and close those that do not answer or are too many. One round."""
        for tunnel in list(self._tunnels.values()):
            for surplus in tunnel.free[: max(0, len(tunnel.free) - _FREE)]:
                surplus.close()
            for connection in tunnel.free:
                if connection.is_answered:
                    connection.ping()
                else:
                    connection.abort()

    def close(self, allocation_id: str | None = None) -> None:
        """Close the tunnel of an allocation, or all."""
        chosen = [allocation_id] if allocation_id is not None else list(self._tunnels)
        for one in chosen:
            tunnel = self._tunnels.pop(one, None)
            for connection in list(tunnel.connections) if tunnel is not None else ():
                connection.abort()


async def _next_free(tunnel: Tunnel, allocation_id: str) -> TunnelConnection:
    turn: asyncio.Future[TunnelConnection] = asyncio.get_running_loop().create_future()
    tunnel.waiting.append(turn)
    try:
        async with asyncio.timeout(_WAIT_SECONDS):
            return await turn
    except (TimeoutError, asyncio.CancelledError) as e:
        if turn.done() and not turn.cancelled() and turn.exception() is None:
            tunnel.add_free(turn.result())  # it came at the moment at which we gave up
        turn.cancel()
        if isinstance(e, asyncio.CancelledError):
            raise
        raise Unavailable(f"the node of allocation {allocation_id} opens no connection; try again") from e


def _not_connected() -> Unavailable:
    return Unavailable("the node of this task is not connected to the master; try again in a moment")
