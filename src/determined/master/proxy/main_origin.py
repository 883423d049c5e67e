"""The proxy at the master's own address: tokens open apps there, cookies do not.

A browser that navigates here with its session cookie is sent on to the origin of the app, with a ticket.
"""

import contextlib

from determined.errors import DeterminedError, Forbidden, Unauthenticated
from determined.master.proxy import http_headers
from determined.master.proxy.access import Admission, Shown
from determined.master.proxy.answers import redirect, send_error
from determined.master.proxy.credentials import Given, given_by
from determined.master.proxy.forwarder import Rewrite
from determined.master.proxy.origin import Origin
from determined.master.proxy.sender import check_sender
from determined.master.proxy.tickets import PASS_LIFETIME, Pass
from determined.master.proxy.visit_request import VisitRequest

_SIGN_IN = ("/det/login", "Sign in, then open this address again")


class MainOrigin(Origin):
    async def serve(self, request: VisitRequest) -> None:
        """Answer a request to `/proxy/...`."""
        try:
            request.check()
            given = given_by(request.headers, request.query)
            if given.session_cookie and not given.has_token_header and not given.is_task:
                await self._serve_session(request, given)
            else:
                await self._serve_token(request, given)
        except DeterminedError as e:
            await send_error(request, e, link=_SIGN_IN if isinstance(e, Unauthenticated) else None)

    async def _serve_session(self, request: VisitRequest, given: Given) -> None:
        if self._ctx.config.proxy.same_origin:
            check_sender(request)
            admission = await self._visitor(request, given)
            await self._forwarder.forward(request, admission, self._rewrite(admission, trusted=True))
            return
        if not request.is_navigation:
            raise Forbidden("the cookie of the master opens no apps; open them at their own origin, or send a token")
        await self._send_to_app(request, await self._visitor(request, given))

    async def _visitor(self, request: VisitRequest, given: Given) -> Admission:
        """Admit by the app's own token where the address has it, else by the session."""
        if given.app_token:
            with contextlib.suppress(Unauthenticated):
                return await self._access.by_token(given, request)
        return await self._access.by_session(given, request)

    async def _serve_token(self, request: VisitRequest, given: Given) -> None:
        admission = await self._access.by_token(given, request)
        if admission.shown is Shown.QUERY and request.header("sec-fetch-mode") == "navigate":
            await self._send_to_app(request, admission)
            return
        if request.wants_websocket and request.header("origin") and not given.bearer:
            raise Forbidden("a page may not open a WebSocket here; open the app at its own origin")
        await self._forwarder.forward(request, admission, self._rewrite(admission))

    def _rewrite(self, admission: Admission, *, trusted: bool = False) -> Rewrite:
        path = admission.address.prefix

        def rewrite(headers: list[http_headers.Header]) -> list[http_headers.Header]:
            passed = http_headers.from_app(headers, cookie_path=path)
            return http_headers.framed_by(passed, "'self'") if trusted else http_headers.sandboxed(passed)

        return rewrite

    async def _send_to_app(self, request: VisitRequest, admission: Admission) -> None:
        service = admission.address.text
        behind_proxy = bool(request.header("x-forwarded-for") or request.header("forwarded"))
        origin = self._origins.of_service(service, request.scheme, request.host, behind_proxy=behind_proxy)
        if origin is None:
            raise Forbidden(
                "this master has no origin for apps: set `proxy.domain` or `proxy.listen` in its config, or look at it"
                " through localhost (`ssh -L`); tunnels and the API work without"
            )
        now = self._ctx.clock.now()
        right = Pass(
            allocation_id=admission.allocation_id,
            service=service,
            session_id=admission.caller.session_id,
            main_origin=f"{request.scheme}://{request.host}",
            expires=(now + PASS_LIFETIME).timestamp(),
            share_link=admission.share_link,
        )
        parts = [self._forwarder.query_for_app(request, admission)]
        parts += [f"{http_headers.TICKET}={self._tickets.issue(right, now)}"]
        query = "&".join(part for part in parts if part)
        await redirect(request, f"{origin}{request.path.decode('latin-1')}?{query}")
