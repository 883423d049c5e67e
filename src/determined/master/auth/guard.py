"""The guard of every route: lets in whom the route's row of the permission table names (auth/permission.py)."""

from collections.abc import Iterable
from typing import Any

from litestar.connection import ASGIConnection
from litestar.enums import ScopeType
from litestar.handlers import BaseRouteHandler

from determined.errors import Forbidden, Unauthenticated
from determined.master.auth import browser, task_scope
from determined.master.auth.authenticate import Credentials, authenticate, credentials_of
from determined.master.auth.identity import Caller, require_admin
from determined.master.auth.permission import ANY_USER, USERS, Permission, Who, permission_of
from determined.master.auth.request_limits import COUNTED_AS, RequestLimits, request_of
from determined.master.context import MasterContext
from determined.master.db.write_queue import write_lane

Connection = ASGIConnection[Any, Any, Any, Any]


async def guard(connection: Connection, handler: BaseRouteHandler) -> None:
    """Put the Caller into the scope, where the dependency `caller` finds it."""
    ctx: MasterContext = connection.app.state.ctx
    write_lane.set("public")
    browser.check_host(connection.headers, ctx.config.host)
    given = credentials_of(connection.headers, connection.cookies)
    if _changes_something(connection) and _browser_may_have_sent_it(given):
        browser.check_origin(connection.headers)
    permission = _row(handler)
    if permission.public or permission.by_handler:
        return
    caller = await authenticate(ctx, given, reporting=permission.reporting)
    write_lane.set(f"user {caller.user_id}")
    connection.scope["user"] = caller
    _count(connection, caller)
    if caller.kind == "task":
        await task_scope.check(ctx, caller, permission, connection.path_params)
    else:
        _check_user(caller, permission, connection.path_params)


def _count(connection: Connection, caller: Caller) -> None:
    limits: RequestLimits = connection.app.state.request_limits
    key = limits.enter(caller, request_of(connection.scope) if connection.scope["type"] == ScopeType.HTTP else None)
    connection.scope["state"][COUNTED_AS] = key  # until routes/observe.py sees it end


def require_rows(handlers: Iterable[BaseRouteHandler]) -> None:
    """Check that every handler says who may call it, so that none is served by oversight. Raises LookupError."""
    for handler in handlers:
        _row(handler)


def caller_of(connection: Connection) -> Caller:
    caller = connection.scope.get("user")
    if not isinstance(caller, Caller):
        raise Unauthenticated("this request has no caller; log in first")
    return caller


def _row(handler: BaseRouteHandler) -> Permission:
    permission = permission_of(handler.opt)
    if permission is None and getattr(handler, "http_methods", None) == {"OPTIONS"}:
        permission = permission_of(ANY_USER)  # Litestar adds these by itself; they name the methods of a path
    if permission is None:
        paths = ", ".join(sorted(handler.paths))
        raise LookupError(f"{handler} ({paths}) has no permission; give `@serve` a row of master/auth/permission.py")
    return permission


def _check_user(caller: Caller, permission: Permission, path: dict[str, Any]) -> None:
    """Check the permission of a user. The services alone know who owns what."""
    if not USERS.intersection(permission.who):
        allocation = path.get("allocation_id", "of the request")
        raise Forbidden(f"only the task of allocation {allocation} may do this, with its own token")
    if permission.who == (Who.ADMIN,):
        require_admin(caller)


def _changes_something(connection: Connection) -> bool:
    # a WebSocket handshake has no method; it opens a channel that can change things
    return connection.scope.get("method", "CONNECT") not in browser.SAFE_METHODS


def _browser_may_have_sent_it(given: Credentials) -> bool:
    return given.from_cookie or (given.user_token is None and given.allocation_token is None)
