"""Users' values as the wire carries them: tensors, arrays and numpy scalars as numbers and lists, and so on."""

import datetime
import enum
import json
import math
import numbers
import uuid
from typing import Any

_INT64 = range(-(2**63), 2**64)


def to_plain(value: Any) -> Any:
    """`value` as plain data. NaN and infinities stay floats; `plain` of codec.py writes them as JSON can.

    Raises:
        TypeError: a value of a kind that no wire carries.
    """
    if value is None or type(value) in (float, str, bool):
        return value
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, str):
        return str(value)
    return _number(value) if isinstance(value, numbers.Number) else _other(value)


def json_encode(obj: Any, indent: str | int | None = None, sort_keys: bool = False) -> str:
    """JSON text of users' data; NaN and infinities become strings.

    Args:
        obj: anything `to_plain` takes, or objects with a `__json__()` method.
        indent: as in `json.dumps`.
        sort_keys: as in `json.dumps`.

    Returns:
        The text.

    Raises:
        TypeError: a value that JSON cannot carry.

    Example:
        >>> json_encode({"loss": float("nan"), "shape": (1, 2)})
        '{"loss": "NaN", "shape": [1, 2]}'
    """
    return json.dumps(_finite(to_plain(obj)), indent=indent, sort_keys=sort_keys)


def _number(value: Any) -> Any:
    if isinstance(value, numbers.Integral):
        number = int(value)
        return number if number in _INT64 else as_float(number)
    if isinstance(value, numbers.Real):
        return as_float(value)
    raise TypeError(f"cannot report {value!r} ({type(value).__name__}); convert it to a float first")


def as_float(value: Any) -> float:
    """Convert a number; one beyond every float is an infinity, as in arithmetic of floats, and ends no training."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _other(value: Any) -> Any:
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8")
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    if hasattr(value, "__json__"):
        return to_plain(value.__json__())
    return _array(value)


def _array(value: Any) -> Any:
    """Tensors and arrays of any framework, known by what they can do; a 0-d one is a number."""
    for method in ("detach", "numpy"):
        if not hasattr(value, "tolist") and hasattr(value, method):
            value = getattr(value, method)()
    for method in ("tolist", "item"):
        if hasattr(value, method):
            return to_plain(getattr(value, method)())
    raise TypeError(f"cannot report a {type(value).__name__}; give numbers, text, lists, dicts, tensors or arrays")


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value
