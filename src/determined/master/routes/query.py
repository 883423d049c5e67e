"""Read a query string as a wire struct: repeated keys are lists, else the last counts; snake case is taken, too."""

from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar, get_args, get_origin

import msgspec
from litestar.exceptions import ValidationException
from msgspec.structs import FieldInfo

from determined.master.routes.request import AnyRequest
from determined.wire.codec import camel
from determined.wire.operation import Query

QueryT = TypeVar("QueryT", bound=Query)
Values = dict[str, str | list[str]]


def read_query(request: AnyRequest, kind: type[QueryT]) -> QueryT:
    """Read the query string as `kind`. Parameters that it does not name are ignored.

    Raises:
        ValidationException: names each parameter that is missing or cannot be read.
    """
    values = gather(request.query_params.multi_items(), kind)
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as e:
        raise _refusal(request, kind, values) from e


def gather(items: Iterable[tuple[str, str]], kind: type[Query]) -> Values:
    """Collect the values of the parameters that `kind` names. Where both spellings are given, camel case counts."""
    is_list = _lists(kind)
    values: Values = {}
    for key, text in sorted(items, key=lambda item: item[0] in is_list):
        name = key if key in is_list else camel(key)
        if name not in is_list:
            continue
        if is_list[name]:
            values.setdefault(name, []).append(text)  # type: ignore[union-attr]
        else:
            values[name] = text
    return values


@cache
def _lists(kind: type[Query]) -> dict[str, bool]:
    """Tell by the name on the wire which parameters are lists."""
    return {field.encode_name: holds_list(field.type) for field in msgspec.structs.fields(kind)}


def holds_list(annotation: Any) -> bool:
    return get_origin(annotation) is list or any(holds_list(arg) for arg in get_args(annotation))


def _refusal(request: AnyRequest, kind: type[Query], values: Values) -> ValidationException:
    url = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
    fields = msgspec.structs.fields(kind)
    for field in fields:
        if field.required and field.encode_name not in values:
            return ValidationException(f"Missing required query parameter {field.encode_name!r} for path {url}")
    problems = [_problem(field, values[field.encode_name]) for field in fields if field.encode_name in values]
    return ValidationException(
        detail=f"Validation failed for {request.method} {url}", extra=[problem for problem in problems if problem]
    )


def _problem(field: FieldInfo, value: str | list[str]) -> dict[str, str] | None:
    try:
        msgspec.convert(value, field.type, strict=False)
    except msgspec.ValidationError as e:
        return {"key": field.encode_name, "message": str(e).split(" - ", maxsplit=1)[0]}
    return None
