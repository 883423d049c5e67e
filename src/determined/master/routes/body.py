"""Reading request bodies as the clients send them: no Content-Type, empty for {}, some snake_case, int64 as text.

Handlers call `await read_body(request, Kind)` instead of declaring `data`, because Litestar decides by Content-Type.
"""

import asyncio
import types
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec

from determined.errors import InvalidArgument
from determined.master.routes.request import AnyRequest
from determined.master.routes.sizes import check_sizes
from determined.wire.codec import camelize_keys

T = TypeVar("T")

_BIG = 256 * 1024  # bytes; decoding more than this would be felt by other requests on the loop


async def read_body(request: AnyRequest, kind: type[T]) -> T:
    """Read the JSON body as `kind`: a wire struct, or plain data such as `dict[str, Any]`. Errors name the field."""
    raw = await request.body()
    if len(raw) > _BIG:
        return await asyncio.to_thread(decode_body, raw, kind)
    return decode_body(raw, kind)


def decode_body(raw: bytes, kind: type[T]) -> T:
    try:
        plain = msgspec.json.decode(raw) if raw.strip() else {}
        return _convert(plain, kind)
    except RecursionError as e:
        raise InvalidArgument("the request body is nested too deeply") from e
    except msgspec.ValidationError as e:
        raise InvalidArgument(f"invalid request body: {e}") from e
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise InvalidArgument(f"the request body is not valid JSON: {e}") from e


def _convert(plain: Any, kind: type[T]) -> T:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        plain = _drop_nulls(camelize_keys(plain), kind)
    check_sizes(plain, kind)
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError:
        # int64 fields travel as strings; a strict pass first keeps text that merely looks like a number what it is
        return msgspec.convert(plain, kind, strict=False)


def _drop_nulls(plain: Any, kind: type[msgspec.Struct]) -> Any:
    """Drop nulls of fields that cannot be null: clients write "not given" so."""
    if not isinstance(plain, dict):
        return plain
    nullable = _nullable(kind)
    return {k: v for k, v in plain.items() if v is not None or k in nullable}


@cache
def _nullable(kind: type[msgspec.Struct]) -> frozenset[str]:
    return frozenset(f.encode_name for f in msgspec.structs.fields(kind) if _allows_none(f.type))


def _allows_none(annotation: Any) -> bool:
    if annotation is Any or annotation is None or annotation is types.NoneType:
        return True
    if get_origin(annotation) in (Union, types.UnionType):
        return any(_allows_none(arg) for arg in get_args(annotation))
    return False
