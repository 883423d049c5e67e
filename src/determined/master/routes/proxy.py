"""`/proxy/<task id>[:<port>]/...`: what tasks serve, and the origins of apps (master/proxy)."""

from typing import Any

from litestar import asgi
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

from determined.master.auth.permission import PROXIED
from determined.master.proxy.proxy import Proxy
from determined.master.proxy.visit_request import VisitRequest


@asgi("/proxy", is_mount=True, opt=PROXIED)
async def proxied(scope: Scope, receive: Receive, send: Send) -> None:
    """Forward any method, and WebSockets, to the service that the path names."""
    proxy: Proxy = _proxy_of(scope)
    await proxy.main_origin.serve(VisitRequest(scope, receive, send))


def by_origin(master: ASGIApp) -> ASGIApp:
    """Serve the origins of apps apart from the master's: what they are asked for never reaches the API."""

    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        request = VisitRequest(scope, receive, send)
        is_request = scope["type"] in (ScopeType.HTTP, ScopeType.WEBSOCKET)
        if is_request and _proxy_of(scope).is_for_app(request):
            await _proxy_of(scope).app_origin.serve(request)
        else:
            await master(scope, receive, send)

    return handle


def _proxy_of(scope: Any) -> Proxy:
    proxy: Proxy = scope["litestar_app"].state.proxy
    return proxy
