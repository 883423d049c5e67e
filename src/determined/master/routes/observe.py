"""Around every request: an id, protective headers, and one log line for what changed something or failed."""

import asyncio
import logging
import re
import secrets
import time
from typing import Any

from litestar.datastructures import MutableScopeHeaders
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from determined.errors import DeterminedError, TooManyRequests
from determined.master.auth.browser import SAFE_METHODS
from determined.master.auth.identity import Caller
from determined.master.auth.request_limits import COUNTED_AS, RequestLimits
from determined.master.auth.start_pace import MAX_WAITING, StartPace, caller_of
from determined.master.routes.errors import CLIENT_LEFT
from determined.wire.codec import to_json
from determined.wire.error import error_body

logger = logging.getLogger(__name__)

_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
# What running tasks send all the time; at info they would drown the rest.
_CHATTER = re.compile(r"/reports$|/task/logs$|/task-logs$|metrics$|/progress$|/waiting$|/heartbeat$|/exchange$")
_ANY_POLICY = "default-src 'self'; frame-ancestors 'self'; object-src 'none'; base-uri 'none'; form-action 'self'"


def observed(app: ASGIApp) -> ASGIApp:
    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if scope["type"] == ScopeType.HTTP:
                refusal = await _wait_for_start(scope)
                await (_observe(app, scope, receive, send) if refusal is None else _refuse(refusal, scope, send))
            else:
                await app(scope, receive, send)
        finally:
            _uncount(scope)

    return handle


async def _wait_for_start(scope: Any) -> DeterminedError | None:
    """Wait for the turn of this request among those of its caller; return why it is refused, if it is."""
    state = scope["litestar_app"].state
    limits: RequestLimits = state.request_limits
    refusal = limits.refuse_again(scope)
    if refusal is not None:
        return refusal
    pace: StartPace = state.start_pace
    seconds = pace.delay(caller_of(scope), time.monotonic())
    if seconds is None:
        return TooManyRequests(f"more than {MAX_WAITING} requests of this caller wait already; send fewer at a time")
    if seconds == 0.0:
        return None
    await asyncio.sleep(seconds)
    return limits.refuse_again(scope)


async def _observe(app: ASGIApp, scope: Any, receive: Receive, send: Send) -> None:
    request_id = _request_id(scope)
    started = time.perf_counter()
    status = 0

    async def send_with_headers(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            _protect(MutableScopeHeaders.from_message(message), scope["path"], request_id)
        await send(message)

    try:
        await app(scope, receive, send_with_headers)
    finally:
        _log(scope, request_id, status, time.perf_counter() - started)


async def _refuse(refusal: DeterminedError, scope: Any, send: Send) -> None:
    """Answer at once; it is not logged, because the same request was refused and logged before."""
    body = to_json(error_body(refusal))
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # ten thousand connections of a refused caller would take 100 MB
    ]
    start: Any = {"type": "http.response.start", "status": refusal.status, "headers": headers}
    _protect(MutableScopeHeaders.from_message(start), scope["path"], _request_id(scope))
    scope["litestar_app"].state.metrics.observe(start, scope)
    await send(start)
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _uncount(scope: Any) -> None:
    """Give back the place that the guard took for the request, which is over now."""
    counted = (scope.get("state") or {}).pop(COUNTED_AS, None)
    if counted is not None:
        scope["litestar_app"].state.request_limits.leave(counted)


def _request_id(scope: Any) -> str:
    """Take the caller's own `X-Request-Id` where it is a sane one, so that logs of both sides meet."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _GIVEN_ID.fullmatch(given := value.decode("latin-1")):
            return str(given)
    return secrets.token_hex(8)


def _protect(headers: MutableScopeHeaders, path: str, request_id: str) -> None:
    headers["X-Request-Id"] = request_id
    headers["X-Content-Type-Options"] = "nosniff"
    headers.setdefault("Content-Security-Policy", _ANY_POLICY)
    headers["Referrer-Policy"] = "same-origin"
    if not path.startswith("/docs/assets/"):
        # tokens and other people's data must not stay in a shared cache
        headers.setdefault("Cache-Control", "no-store")


def _log(scope: Any, request_id: str, status: int, seconds: float) -> None:
    method, path = scope["method"], scope["path"]
    left = status in (0, CLIENT_LEFT)
    failed = status >= 400 and not left
    if method in SAFE_METHODS and not failed and not left:
        return
    level = logging.DEBUG if left or (_CHATTER.search(path) and not failed) else logging.INFO
    who = _who(scope.get("user"))
    fields = {
        "request_id": request_id,
        "method": method,
        "path": path,
        "user": who,
        "status": status,
        "duration_ms": round(seconds * 1000, 1),
    }
    logger.log(level, "%s %s: %s", method, path, "the client left" if left else status, extra={"fields": fields})


def _who(caller: Any) -> str | None:
    if not isinstance(caller, Caller):
        return None
    return caller.username if caller.kind == "user" else f"{caller.username} (allocation {caller.allocation_id})"
