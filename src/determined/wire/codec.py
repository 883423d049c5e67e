"""Format of the wire: camelCase structs, JSON and MessagePack, NaN and infinities as strings.

Every request and response type of the REST API derives from `Wire`. A PATCH field that tells an absent key from an
explicit null is typed `X | None | UnsetType` with default `UNSET`.
"""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from determined.constants import MASKED, SECRET_FIELDS

T = TypeVar("T")


class Wire(msgspec.Struct, rename="camel", kw_only=True, frozen=False, omit_defaults=False):
    """Base of every wire struct. Its text leaves secrets out: it may end in a log or a traceback."""

    def __repr__(self) -> str:
        return text_of(self)


def text_of(struct: msgspec.Struct) -> str:
    """Return what `repr` says of a struct, with a mask in the place of tokens and passwords."""
    shown = (
        f"{name}={MASKED if name in SECRET_FIELDS and value else repr(value)}"
        for name in struct.__struct_fields__
        for value in (getattr(struct, name),)
    )
    return f"{type(struct).__name__}({', '.join(shown)})"


def to_json(value: Any) -> bytes:
    """Encode a wire struct or plain data as JSON; callers pass free-form floats through `plain` first."""
    return _json_encoder.encode(value)


def from_json(raw: bytes | str, kind: type[T]) -> T:
    return msgspec.json.decode(raw, type=kind)


def from_msgpack(raw: bytes, kind: type[T]) -> T:
    return msgspec.msgpack.decode(raw, type=kind)


def convert(value: Any, kind: type[T]) -> T:
    """Build a wire struct from plain data (already-decoded JSON)."""
    return msgspec.convert(value, type=kind)


def plain(value: Any) -> Any:
    """Free-form user data as JSON can carry it: NaN and infinities become the strings the wire uses."""
    if isinstance(value, float):
        return float_to_wire(value)
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value


def float_to_wire(value: float) -> float | str:
    if math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def float_from_wire(value: float | int | str) -> float:
    return float(value)


def rfc3339(moment: datetime) -> str:
    """`2026-11-15T04:00:00.123456Z`: always UTC, always microseconds, so that text sorts as time does."""
    text = moment.astimezone(UTC).isoformat(timespec="microseconds")  # a quarter of the time that strftime takes
    return text.removesuffix("+00:00") + "Z"


def rfc3339_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else rfc3339(moment)


def camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def camelize_keys(body: Any) -> Any:
    """Top-level snake_case keys as camelCase: some clients send `is_raw` where the schema says `isRaw`."""
    if not isinstance(body, dict):
        return body
    return {camel(k) if "_" in k else k: v for k, v in body.items()}


def _encode_other(value: Any) -> Any:
    convert_other: Callable[[], Any] | None = getattr(value, "tolist", None)
    if convert_other is not None:
        return convert_other()
    raise TypeError(f"cannot encode {type(value).__name__} for the wire")


_json_encoder = msgspec.json.Encoder(enc_hook=_encode_other)
# The method itself, not a function around it: it runs once per reported metric, inside training loops.
to_msgpack: Callable[[Any], bytes] = msgspec.msgpack.Encoder(enc_hook=_encode_other).encode
