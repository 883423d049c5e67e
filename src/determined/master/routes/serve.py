"""Turn a handler into the route of an operation: `@serve(LIST_TRIALS, USER_OR_EXPERIMENT)`.

Path, method and types come from the operation (wire/operation.py). A handler with an argument `params` gets the query
string, one with `payload` the body, each as the operation's request type. Others read the request themselves.
A handler that returns None answers Nothing.
"""

import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from litestar import Response, delete, get, patch, post, put
from litestar.di import Provide
from litestar.handlers import HTTPRouteHandler

from determined.errors import (
    DeterminedError,
    Forbidden,
    InvalidArgument,
    NotFound,
    TooLarge,
    TooManyRequests,
    Unauthenticated,
)
from determined.master.auth.permission import Row, permission_of
from determined.master.routes.body import read_body
from determined.master.routes.query import read_query
from determined.master.routes.request import AnyRequest
from determined.wire.operation import Nothing, Operation

AnyOperation = Operation[Any, Any]
RequestT = TypeVar("RequestT")
ResponseT = TypeVar("ResponseT")

INTERNAL = ("Internal",)  # between the parts of a cluster

_KEY, _ERRORS = "operation", "errors"
_METHODS = {"GET": get, "POST": post, "PUT": put, "PATCH": patch, "DELETE": delete}


def serve(
    operation: Operation[RequestT, ResponseT],
    permission: Row,
    *,
    errors: Sequence[type[DeterminedError]] = (),
    max_body: int | None = None,
    tags: Sequence[str] = (),
) -> Callable[[Callable[..., Awaitable[ResponseT | Response[Any] | None]]], HTTPRouteHandler]:
    """Serve an operation.

    Args:
        operation: What is served.
        permission: Its row of the permission table (auth/permission.py).
        errors: What it may answer besides what follows from its types and its permission (`errors_of`).
        max_body: Largest body in bytes (routes/limits.py); the app's limit by default.
        tags: Headings under which the OpenAPI lists it.
    """

    def decorate(handler: Callable[..., Awaitable[ResponseT | Response[Any] | None]]) -> HTTPRouteHandler:
        limit = {} if max_body is None else {"request_max_body_size": max_body}
        route: HTTPRouteHandler = _METHODS[operation.method](
            operation.path,
            status_code=200,
            opt={**permission, _KEY: operation, _ERRORS: _all_errors(operation, permission, errors)},
            dependencies=_readers(operation, handler),
            tags=tags or None,
            **limit,
        )(_answering_nothing(operation, handler) if handler.__annotations__["return"] is None else handler)
        return route

    return decorate


def operation_of(options: Mapping[str, Any]) -> AnyOperation | None:
    """Read the operation in the `opt` of a handler."""
    served = options.get(_KEY)
    return served if isinstance(served, Operation) else None


def errors_of(options: Mapping[str, Any]) -> Sequence[type[DeterminedError]]:
    """Read the errors in the `opt` of a handler, by status."""
    errors: Sequence[type[DeterminedError]] = options.get(_ERRORS, ())
    return errors


def _all_errors(
    operation: AnyOperation, permission: Row, errors: Sequence[type[DeterminedError]]
) -> list[type[DeterminedError]]:
    takes, row = operation.request is not Nothing, permission_of(permission)
    all_errors = {*errors} | ({InvalidArgument} if takes else set()) | ({NotFound} if operation.ids else set())
    if takes and operation.method != "GET":
        all_errors.add(TooLarge)
    if row is not None and not row.public:
        all_errors |= {Unauthenticated, Forbidden, TooManyRequests}
    return sorted(all_errors, key=lambda error: (error.status, error.code))


def _readers(operation: AnyOperation, handler: Callable[..., Any]) -> dict[str, Provide]:
    annotations: dict[str, Any] = handler.__annotations__
    missing = [name for name in operation.ids if name not in annotations]
    if missing:
        raise TypeError(f"{handler.__qualname__} lacks the argument {missing[0]} of {operation.path}")
    name = "params" if operation.method == "GET" else "payload"
    if name not in annotations:
        return {}
    if annotations[name] != operation.request:
        raise TypeError(f"{handler.__qualname__} takes {annotations[name]}, its operation {operation.request}")
    return {name: _query_reader(operation.request) if name == "params" else _body_reader(operation.request)}


def _answering_nothing(operation: AnyOperation, handler: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    if operation.response is not Nothing:
        raise TypeError(f"{handler.__qualname__} returns None, its operation {operation.response}")

    @functools.wraps(handler)
    async def answer(*args: Any, **kwargs: Any) -> Nothing:
        await handler(*args, **kwargs)
        return Nothing()

    answer.__annotations__ = {**handler.__annotations__, "return": Nothing}
    return answer


def _query_reader(kind: Any) -> Provide:
    def read(request: AnyRequest) -> Any:
        return read_query(request, kind)

    return Provide(read, sync_to_thread=False)


def _body_reader(kind: Any) -> Provide:
    async def read(request: AnyRequest) -> Any:
        return await read_body(request, kind)

    return Provide(read)
