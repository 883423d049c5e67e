"""Conversion of an HTTP answer to the error class the master raised. The other direction is master/routes/errors.py."""

from typing import Any

import msgspec

from determined.errors import (
    BY_CODE,
    BadMaster,
    CheckpointDamaged,
    CheckpointNotFound,
    CheckpointStateException,
    DeterminedError,
    Unavailable,
)

_KNOWN: dict[str, type[DeterminedError]] = {
    **BY_CODE,
    **{cls.code: cls for cls in (CheckpointDamaged, CheckpointNotFound, CheckpointStateException)},
}
_BY_STATUS: dict[int, type[DeterminedError]] = {
    **{cls.status: cls for cls in reversed(BY_CODE.values())},
    400: BY_CODE["invalid_argument"],
    409: BY_CODE["conflict"],
    502: Unavailable,
    504: Unavailable,
}


def error_of(status: int, raw: bytes, url: str) -> DeterminedError:
    """Return the error an unsuccessful answer stands for."""
    try:
        body = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        body = None
    if not isinstance(body, dict):
        return _foreign(status, url)
    error = body.get("error")
    if not isinstance(error, dict):
        error = {"error": error or body.get("message")}
    return error_from(error, status)


def error_from(error: dict[str, Any], status: int = 500) -> DeterminedError:
    """Return the error of an `{"error": {...}}` object, from an answer or from the middle of a stream."""
    message = str(error.get("error") or error.get("message") or f"the master answered status {status}")
    kind = (
        _KNOWN.get(str(error.get("reason"))) or _by_grpc(error.get("code")) or _BY_STATUS.get(status, DeterminedError)
    )
    details = error.get("details")
    details = details if isinstance(details, dict) else {}
    repeats_details = kind is BY_CODE["invalid_config"] and details  # a line each, which the class adds by itself
    try:
        return kind(message.split("\n", maxsplit=1)[0] if repeats_details else message, **details)
    except TypeError:  # details of another release of the master, which this class does not take
        return kind(message)


def _by_grpc(code: Any) -> type[DeterminedError] | None:
    """Return the class of a gRPC code: masters of older releases send a number only."""
    return next((cls for cls in BY_CODE.values() if cls.grpc == code), None)


def _foreign(status: int, url: str) -> DeterminedError:
    if status in (502, 503, 504):
        return Unavailable(f"{url} answered status {status}: the master behind it is away; try again shortly")
    return BadMaster(
        f"{url} answered status {status} without a Determined error: something else is listening there; "
        "check the address given with -m or DET_MASTER"
    )
