"""Tunnels: connections of runners through which the proxy reaches what their tasks serve."""

from typing import Any

from litestar import Response

from determined.errors import InvalidArgument, TooManyRequests
from determined.master.auth.permission import OWN_ALLOCATION
from determined.master.connections import connection_of
from determined.master.context import MasterContext
from determined.master.proxy.tunnels import Tunnels
from determined.master.routes.request import AnyRequest
from determined.master.routes.serve import INTERNAL, serve
from determined.master.services import task_service
from determined.wire.tunnel import OPEN_TUNNEL, PROTOCOL

_SWITCHED = f"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: {PROTOCOL}\r\n\r\n".encode()


@serve(OPEN_TUNNEL, OWN_ALLOCATION, errors=(InvalidArgument, TooManyRequests), tags=INTERNAL)
async def open_tunnel(request: AnyRequest, allocation_id: str, ctx: MasterContext, tunnels: Tunnels) -> Response[Any]:
    """Turn the connection into one of the tunnel of this allocation."""
    connection = connection_of(request.scope)
    if request.headers.get("upgrade") != PROTOCOL or connection is None or not connection.can_be_taken_over:
        raise InvalidArgument(f"a tunnel begins with the headers `Connection: Upgrade` and `Upgrade: {PROTOCOL}`")
    services = await task_service.of_allocation(ctx, allocation_id)
    tunnel = tunnels.connect(allocation_id, services)
    connection.take_over(tunnel)
    tunnel.transport.write(_SWITCHED)
    tunnels.begin(allocation_id, tunnel)
    return Response(None, status_code=101)
