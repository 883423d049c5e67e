"""Functions of operations, made from the wire when somebody asks for them: `get_GetTrial(session, *, trialId)`."""

import json
from collections.abc import Callable, Iterator
from enum import Enum
from inspect import Parameter, Signature
from typing import Any

from urllib3.exceptions import HTTPError

from determined.common.api._catalog import Call
from determined.common.api._messages import MODULE, Message, class_of, codec_of
from determined.common.api._response import Response
from determined.common.api._session import do_request
from determined.common.api._shapes import RuntimeStreamError
from determined.wire.operation import Nothing, StreamOperation


class APIHttpError(Exception):
    """An answer with a status that the operation does not have."""

    def __init__(self, operation_name: str, response: Response) -> None:
        self.response = response
        self.operation_name = operation_name
        self.message = f"{operation_name} failed: {response.status_code} {response.reason}"
        super().__init__(self.message)


class APIHttpStreamError(APIHttpError):
    """A stream that the master ended with an error, or that broke off."""

    def __init__(self, operation_name: str, error: Any) -> None:
        self.operation_name = operation_name
        self.error = error
        self.message = f"{operation_name} broke off: {error.message}"
        Exception.__init__(self, self.message)


def function_of(call: Call) -> Callable[..., Any]:
    """Make the function of an operation."""
    signature = Signature([_SESSION, *_parameters(call)])

    def request(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        return _result(call, _sent(call, given.pop("session"), given, stream=False))

    def stream(*args: Any, **kwargs: Any) -> Iterator[Any]:
        given = signature.bind(*args, **kwargs).arguments
        yield from _lines(call, _sent(call, given.pop("session"), given, stream=True))

    function: Any = stream if isinstance(call.operation, StreamOperation) else request
    function.__name__ = function.__qualname__ = call.name
    function.__module__, function.__doc__ = MODULE, documentation(call)
    function.__signature__ = signature
    made: Callable[..., Any] = function
    return made


def documentation(call: Call) -> str:
    """Compose the docstring: the request, and what there is to say of its parameters."""
    lines = [f"- {field.argument}: {field.text}" for field in call.query if field.text]
    return "\n\n".join([f"{call.operation.method} {call.operation.path}", *(["\n".join(lines)] if lines else [])])


def _parameters(call: Call) -> list[Parameter]:
    required = [*call.ids, *(["body"] if call.body is not None else [])]
    required += [field.argument for field in call.query if field.required]
    optional = [field.argument for field in call.query if not field.required]
    return [
        *(Parameter(name, Parameter.KEYWORD_ONLY) for name in sorted(required)),
        *(Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in sorted(optional)),
    ]


def _sent(call: Call, session: Any, given: dict[str, Any], *, stream: bool) -> Response:
    ids = {ours: given[theirs] for ours, theirs in zip(call.operation.ids, call.ids, strict=True)}
    send = getattr(session, "_do_request", None) or _through(session)
    response: Response = send(
        method=call.operation.method,
        path=call.operation.at(**ids),
        params={field.name: _word(given.get(field.argument)) for field in call.query} or None,
        json=_body(given.get("body")),
        data=None,
        headers=None,
        timeout=None,
        stream=stream,
    )
    if response.status_code != 200:
        raise APIHttpError(call.name, response)
    return response


def _through(session: Any) -> Callable[..., Response]:
    """Send by a session of `determined.experimental.client`, which has no `_do_request`."""
    return lambda **request: do_request(session, **request)


def _result(call: Call, response: Response) -> Any:
    return None if call.response is Nothing else _loaded(call.response, response.json())


def _lines(call: Call, response: Response) -> Iterator[Any]:
    error_class = class_of(RuntimeStreamError)
    try:
        for line in response.iter_lines():
            content = json.loads(line)
            if "error" in content:
                raise APIHttpStreamError(call.name, error_class.from_json(_error(content["error"])))  # type: ignore[attr-defined]
            yield _loaded(call.response, content["result"])
    except HTTPError as err:
        raise APIHttpStreamError(call.name, error_class(message=f"the connection broke: {err}")) from err
    finally:
        response.close()


def _error(error: dict[str, Any]) -> dict[str, Any]:
    """Add upstream's keys of an error in a stream to ours."""
    return {"message": error.get("error"), "grpcCode": error.get("code")} | error | {"details": None}


def _loaded(kind: Any, value: Any) -> Any:
    return codec_of(kind).load(value)


def _word(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_word(item) for item in value]
    if isinstance(value, bool):
        return str(value).lower()
    return value.value if isinstance(value, Enum) else value


def _body(body: Any) -> Any:
    return body.to_json(True) if isinstance(body, Message) else body


_SESSION = Parameter("session", Parameter.POSITIONAL_OR_KEYWORD)
