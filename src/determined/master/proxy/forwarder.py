"""Forwarder of admitted requests: opens a stream to the service, counts the visit, chooses how bytes are carried."""

import asyncio
from collections.abc import Callable

from determined.errors import Forbidden, Unavailable
from determined.master.auth import allocation_token
from determined.master.auth.request_limits import RequestLimits
from determined.master.context import MasterContext
from determined.master.proxy import http_headers
from determined.master.proxy.access import Admission, Shown
from determined.master.proxy.answers import redirect
from determined.master.proxy.forward import Forwarding
from determined.master.proxy.http_headers import Header, Visit
from determined.master.proxy.tcp_forward import asks_for_tcp, forward_tcp
from determined.master.proxy.tunnel_connection import Stream
from determined.master.proxy.tunnels import Tunnels
from determined.master.proxy.visit_request import VisitRequest

_PATIENCE_SECONDS = 30.0
_LOOK_SECONDS = 0.25

Rewrite = Callable[[list[Header]], list[Header]]


class Forwarder:
    def __init__(self, ctx: MasterContext, tunnels: Tunnels, limits: RequestLimits) -> None:
        self._ctx = ctx
        self._tunnels = tunnels
        self._limits = limits

    async def forward(self, request: VisitRequest, admission: Admission, rewrite: Rewrite) -> None:
        """Carry a request of somebody who was admitted to the service, and its answer back.

        Raises a DeterminedError before anything was answered.
        """
        if request.path + b"/" == admission.address.prefix and not request.wants_websocket:
            await redirect(request, _with_slash(request), status=307)
            return
        counted = self._limits.enter(admission.caller)
        try:
            await self._through_tunnel(request, admission, rewrite)
        finally:
            self._limits.leave(counted)

    def query_for_app(self, request: VisitRequest, admission: Admission) -> str:
        """Return the query without what is ours."""
        return http_headers.hide_tokens(request.query, self._own_tokens(admission)).decode("latin-1")

    async def _through_tunnel(self, request: VisitRequest, admission: Admission, rewrite: Rewrite) -> None:
        is_tcp = admission.service.tcp or asks_for_tcp(request)
        if is_tcp and admission.shown is Shown.COOKIE:
            raise Forbidden("raw TCP is for programs that send a token, not for pages")
        stream = await self._open(request, admission, is_patient=is_tcp and request.wants_websocket)
        try:
            if request.connection is not None:
                request.connection.lift_body_deadline()
            if is_tcp:
                await forward_tcp(request, stream, self._notes(admission))
            else:
                await self._forwarding(request, admission, rewrite, stream).run()
        finally:
            stream.close()

    async def _open(self, request: VisitRequest, admission: Admission, *, is_patient: bool) -> Stream:
        """Open a stream. Clients of raw TCP wait here until the service listens: they do not know how to try again."""
        if not is_patient:
            return await self._tunnels.open(admission.allocation_id, admission.service.id)
        deadline = asyncio.get_running_loop().time() + _PATIENCE_SECONDS
        while True:
            try:
                return await self._open_accepted(admission)
            except Unavailable:
                has_left = request.connection is None or request.connection.transport.is_closing()
                if has_left or asyncio.get_running_loop().time() >= deadline:
                    raise
            await asyncio.sleep(_LOOK_SECONDS)

    async def _open_accepted(self, admission: Admission) -> Stream:
        """Open a stream to a service that listens. Raises Unavailable."""
        stream = await self._tunnels.open(admission.allocation_id, admission.service.id)
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await stream.accepted()
        except BaseException as e:
            stream.close()
            if isinstance(e, ConnectionError | TimeoutError):
                raise Unavailable("the task does not answer; try again") from e
            raise
        return stream

    def _forwarding(self, request: VisitRequest, admission: Admission, rewrite: Rewrite, stream: Stream) -> Forwarding:
        is_default = not admission.service.id
        token = self._app_token(admission) if is_default or admission.shown is Shown.QUERY else ""
        visit = Visit(
            peer=request.peer,
            scheme=request.scheme,
            hides_authorization=admission.shown is Shown.HEADER,
            app_token=token if is_default else "",
            hidden_tokens=frozenset(self._own_tokens(admission) if token else ()),
        )
        head = http_headers.request_head(
            request.method, request.path, request.query, request.headers, visit, upgrades=request.wants_websocket
        )
        return Forwarding(request, stream, head, rewrite, self._notes(admission))

    def _app_token(self, admission: Admission) -> str:
        return allocation_token.app_token(self._ctx.cluster.secret, admission.allocation_id)

    def _own_tokens(self, admission: Admission) -> list[str]:
        """Return the values of `token=` that are ours and not for the app."""
        secret, allocation_id = self._ctx.cluster.secret, admission.allocation_id
        shared = [allocation_token.share_token(secret, allocation_id, admission.share_link)]
        return [self._app_token(admission), *(shared if admission.share_link else [])]

    def _notes(self, admission: Admission) -> Callable[[], None]:
        activity, clock, task_id = self._ctx.activity, self._ctx.clock, admission.address.task_id
        activity.note(task_id, clock.now())
        return lambda: activity.note(task_id, clock.now())


def _with_slash(request: VisitRequest) -> str:
    query = request.query.decode("latin-1")
    return request.path.decode("latin-1") + "/" + (f"?{query}" if query else "")
