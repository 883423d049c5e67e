"""Turn a handler into the route of an operation: `@serve(LIST_TRIALS, USER_OR_EXPERIMENT)`.

Path, method and types come from the operation (wire/operation.py). A handler with an argument `params` gets the query
string, one with `payload` the body, each as the operation's request type. Others read the request themselves.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from litestar import Request, Response, delete, get, patch, post, put
from litestar.di import Provide
from litestar.handlers import HTTPRouteHandler

from determined.master.auth.permission import Row
from determined.master.routes.body import read_body
from determined.master.routes.query import read_query
from determined.wire.operation import Operation

AnyRequest = Request[Any, Any, Any]
AnyOperation = Operation[Any, Any]
RequestT = TypeVar("RequestT")
ResponseT = TypeVar("ResponseT")

_KEY = "operation"
_METHODS = {"GET": get, "POST": post, "PUT": put, "PATCH": patch, "DELETE": delete}


def serve(
    operation: Operation[RequestT, ResponseT],
    permission: Row,
    *,
    max_body: int | None = None,
) -> Callable[[Callable[..., Awaitable[ResponseT | Response[Any]]]], HTTPRouteHandler]:
    """Serve an operation.

    Args:
        operation: What is served.
        permission: Its row of the permission table (auth/permission.py).
        max_body: Largest body in bytes (routes/limits.py); the app's limit by default.
    """

    def decorate(handler: Callable[..., Awaitable[ResponseT | Response[Any]]]) -> HTTPRouteHandler:
        limit = {} if max_body is None else {"request_max_body_size": max_body}
        route: HTTPRouteHandler = _METHODS[operation.method](
            operation.path,
            status_code=200,
            opt={**permission, _KEY: operation},
            dependencies=_readers(operation, handler),
            **limit,
        )(handler)
        return route

    return decorate


def operation_of(options: Mapping[str, Any]) -> AnyOperation | None:
    """The operation in the `opt` of a handler."""
    served = options.get(_KEY)
    return served if isinstance(served, Operation) else None


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


def _query_reader(kind: Any) -> Provide:
    def read(request: AnyRequest) -> Any:
        return read_query(request, kind)

    return Provide(read, sync_to_thread=False)


def _body_reader(kind: Any) -> Provide:
    async def read(request: AnyRequest) -> Any:
        return await read_body(request, kind)

    return Provide(read)
