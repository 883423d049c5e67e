"""The one place where errors become HTTP answers: `{"error": {code, reason, error, details}, "message"}`."""

import logging
import secrets
from typing import Any

import msgspec
from litestar import Response
from litestar.exceptions import HTTPException
from litestar.types import ExceptionHandlersMap

from determined.errors import (
    DeterminedError,
    Forbidden,
    InvalidArgument,
    NotFound,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from determined.master.routes.request import AnyRequest
from determined.wire.codec import to_json
from determined.wire.error import error_body

logger = logging.getLogger(__name__)


# Nobody reads this answer; the status keeps an aborted request apart from a failure in the log and the counters.
CLIENT_LEFT = 499
_LEFT_MIDWAY = "client disconnected prematurely"  # Litestar's words, with status 500

_BY_STATUS: dict[int, type[DeterminedError]] = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    413: TooLarge,
    503: Unavailable,
}


def error_response(error: DeterminedError, status: int | None = None) -> Response[bytes]:
    return Response(to_json(error_body(error)), status_code=status or error.status, media_type="application/json")


def exception_handlers() -> ExceptionHandlersMap:
    return {
        DeterminedError: _ours,
        HTTPException: _framework,
        msgspec.MsgspecError: _unreadable,
        OverflowError: _too_big_a_number,
        UnicodeError: _bad_text,
        Exception: _unexpected,
    }


def _ours(request: AnyRequest, error: DeterminedError) -> Response[bytes]:
    if error.status >= 500:
        logger.warning("%s %s: %s", request.method, request.url.path, error.message)
    return error_response(error)


def _framework(request: AnyRequest, error: HTTPException) -> Response[bytes]:
    """Litestar's own: unknown route, wrong method, a parameter it could not convert, a body over the limit."""
    message = str(error.detail)
    if message == _LEFT_MIDWAY:
        return error_response(InvalidArgument("the client left before it had sent the whole request"), CLIENT_LEFT)
    if error.status_code == 404:
        message = f"no such path: {request.method} {request.url.path}"
    if error.status_code == 405:
        message = f"{request.method} is not allowed on {request.url.path}"
    if error.status_code == 413:
        message = f"the request is larger than {request.url.path} takes; send less at once"
    if isinstance(error.extra, list) and error.extra:
        message += ": " + "; ".join(_violation(entry) for entry in error.extra)
    kind = _BY_STATUS.get(error.status_code, InvalidArgument)
    return error_response(kind(message), error.status_code)


def _violation(entry: Any) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    return f"{entry.get('key', '?')}: {entry.get('message', 'invalid')}"


def _unreadable(_request: AnyRequest, error: Exception) -> Response[bytes]:
    return error_response(InvalidArgument(f"the request cannot be read: {error}"))


def _too_big_a_number(_request: AnyRequest, _error: Exception) -> Response[bytes]:
    return error_response(InvalidArgument("a number in the request does not fit into 64 bits"))


def _bad_text(_request: AnyRequest, error: Exception) -> Response[bytes]:
    return error_response(InvalidArgument(f"the request holds text that is not valid Unicode: {error}"))


def _unexpected(request: AnyRequest, error: Exception) -> Response[bytes]:
    """Answer for a defect of ours. The id ties what the client saw to the traceback in the log."""
    incident = secrets.token_hex(4)
    logger.error("incident %s: %s %s failed", incident, request.method, request.url.path, exc_info=error)
    return error_response(DeterminedError(f"internal error; the master's log has it as incident {incident}"))
