"""The proxy at the origin of an app. The app's own cookie opens it; nothing of the master is served here."""

import logging

from determined.errors import DeterminedError, NotFound, Unauthenticated
from determined.master.proxy import http_headers
from determined.master.proxy.answers import redirect, send_error
from determined.master.proxy.credentials import Given, given_by
from determined.master.proxy.forwarder import Rewrite
from determined.master.proxy.http_headers import Header
from determined.master.proxy.origin import Origin
from determined.master.proxy.sender import check_origin, check_sender
from determined.master.proxy.tickets import PASS_LIFETIME, Pass, seal, unseal
from determined.master.proxy.visit_request import VisitRequest

logger = logging.getLogger(__name__)


class AppOrigin(Origin):
    async def serve(self, request: VisitRequest) -> None:
        """Answer a request, whatever it asks for."""
        if request.scope["type"] == "websocket":  # one of the proxy comes as HTTP
            await request.send({"type": "websocket.close", "code": 1008, "reason": "not found"})
            return
        try:
            request.check()
            await self._serve(request, given_by(request.headers, request.query))
        except DeterminedError as e:
            logger.info("%s %s at %s: %s", request.method, request.scope["path"], request.host, e.message)
            await send_error(request, e)

    async def _serve(self, request: VisitRequest, given: Given) -> None:
        service = request.address().text
        if not self._origins.belongs(request.host, service):
            raise NotFound(f"service not found: {service}; it has an origin of its own")
        if given.ticket:
            await self._redeem(request, given.ticket)
        elif given.app_cookie and not given.bearer:
            await self._serve_cookie(request, given.app_cookie)
        else:
            admission = await self._access.by_token(given, request)
            check_origin(request)
            await self._forwarder.forward(request, admission, self._rewrite(request, ""))

    async def _redeem(self, request: VisitRequest, ticket: str) -> None:
        """Turn a ticket into the cookie of the app, and go on without it."""
        now = self._ctx.clock.now()
        right = self._tickets.redeem(ticket, request.address().text, now)
        if right is None or request.method != "GET":
            raise Unauthenticated("this link was used before or is too old; open the app from the master's page again")
        admission = await self._access.by_pass(right, request)
        query = self._forwarder.query_for_app(request, admission)
        location = request.path.decode("latin-1") + (f"?{query}" if query else "")
        await redirect(request, location, (b"set-cookie", self._cookie(request, right).encode()))

    async def _serve_cookie(self, request: VisitRequest, cookie: str) -> None:
        right = unseal(self._ctx.cluster.secret, cookie)
        if right is None:
            raise Unauthenticated("this visit is unknown; open the app from the master's page")
        check_sender(request)
        try:
            admission = await self._access.by_pass(right, request)
        except Unauthenticated:
            if not request.is_navigation:
                raise
            query = request.query.decode("latin-1")
            # The master knows whether the browser is still signed in, and then issues another ticket.
            await redirect(request, right.main_origin + request.path.decode("latin-1") + (f"?{query}" if query else ""))
            return
        await self._forwarder.forward(request, admission, self._rewrite(request, right.main_origin))

    def _rewrite(self, request: VisitRequest, main_origin: str) -> Rewrite:
        path = request.address().prefix if self._origins.is_shared(request.host) else None

        def rewrite(headers: list[Header]) -> list[Header]:
            return http_headers.framed_by(http_headers.from_app(headers, cookie_path=path), main_origin)

        return rewrite

    def _cookie(self, request: VisitRequest, right: Pass) -> str:
        value = seal(self._ctx.cluster.secret, right)
        path = request.address().prefix.decode()
        parts = [f"{http_headers.APP_COOKIE}={value}", f"Path={path}", "HttpOnly", "SameSite=Lax"]
        parts += [f"Max-Age={int(PASS_LIFETIME.total_seconds())}"]
        return "; ".join([*parts, "Secure"] if request.scheme == "https" else parts)
