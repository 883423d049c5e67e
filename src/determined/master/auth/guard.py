"""The guard of every route: authorised unless the handler says `opt={"public": True}`."""

import re
from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from determined.errors import Unauthenticated
from determined.master.auth import browser
from determined.master.auth.authenticate import Credentials, authenticate, credentials_of
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext

PUBLIC = {"public": True}

_REPORTING = re.compile(r"/api/v1/allocations/[^/]+/resources/[^/]+/(reports|signals)/?")

Connection = ASGIConnection[Any, Any, Any, Any]


async def guard(connection: Connection, handler: BaseRouteHandler) -> None:
    """Puts the Caller into the scope, where the dependency `caller` finds it."""
    ctx: MasterContext = connection.app.state.ctx
    browser.check_host(connection.headers, ctx.config.host)
    given = credentials_of(connection.headers, connection.cookies)
    if _changes_something(connection) and _browser_may_have_sent_it(given):
        browser.check_origin(connection.headers)
    if handler.opt.get("public"):
        return
    reporting = _REPORTING.fullmatch(connection.scope["path"]) is not None
    connection.scope["user"] = await authenticate(ctx, given, reporting=reporting)


def caller_of(connection: Connection) -> Caller:
    caller = connection.scope.get("user")
    if not isinstance(caller, Caller):
        raise Unauthenticated("this request has no caller; log in first")
    return caller


def _changes_something(connection: Connection) -> bool:
    # a WebSocket handshake has no method; it opens a channel that can change things
    return connection.scope.get("method", "CONNECT") not in browser.SAFE_METHODS


def _browser_may_have_sent_it(given: Credentials) -> bool:
    return given.from_cookie or (given.user_token is None and given.allocation_token is None)
