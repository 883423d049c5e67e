"""Sizes, durations and training lengths as people write them, turned into numbers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeGuard

from determined.errors import InvalidArgument

_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,18})?) ?(?:([kmgtp])(?:i?b)?|b)?", re.IGNORECASE | re.ASCII)
_DURATION_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)  # Go takes both micro signs
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


class Unit(StrEnum):
    BATCHES = "batches"
    RECORDS = "records"
    EPOCHS = "epochs"


@dataclass(frozen=True, slots=True)
class Length:
    """An amount of training. `unit` is None where the config gave a bare number."""

    unit: Unit | None
    value: int

    @classmethod
    def parse(cls, raw: object) -> "Length":
        """`50`, or exactly one of `{batches|records|epochs: n}`."""
        problem = length_problem(raw, unitless=True, low=0)
        if problem:
            raise InvalidArgument(f"{raw!r} is not a length: {problem}")
        if isinstance(raw, int):
            return cls(None, raw)
        assert isinstance(raw, Mapping)  # as there is no problem
        ((unit, value),) = raw.items()
        return cls(Unit(unit), value)


def length_problem(raw: object, *, unitless: bool, low: int) -> str | None:
    """Return what is wrong with a length as written, or None."""
    if _is_integer(raw):
        if not unitless:
            return "needs a unit: give exactly one of batches, records, epochs"
        return None if raw >= 0 else f"must be at least 0, not {raw}"
    if not isinstance(raw, Mapping) or len(raw) != 1 or next(iter(raw)) not in set(Unit):
        return "a length needs exactly one of batches, records, epochs"
    value = next(iter(raw.values()))
    if not _is_integer(value):
        return f"a length counts in integers, not {value!r}"
    return None if value >= low else f"must be at least {low}, not {value}"


def to_batches(length: Length, *, records_per_epoch: int = 0, global_batch_size: int = 1) -> int:
    """Return a length in batches; partial batches drop, but never to nothing. A bare number counts epochs.

    Raises:
        InvalidArgument: epochs without `records_per_epoch`.
    """
    if length.unit is Unit.BATCHES:
        return length.value
    if length.unit is Unit.RECORDS:
        return max(length.value // global_batch_size, 1)
    if records_per_epoch < 1:
        raise InvalidArgument(f"{length.value} epochs cannot be counted in batches; set records_per_epoch")
    return max(length.value * records_per_epoch // global_batch_size, 1)


def parse_size(raw: str | int) -> int:
    """Return bytes from `4g`, `512 MiB`, `1.5gb` or a number; units are binary multiples."""
    if _is_integer(raw) and raw >= 0:
        return raw
    match = _SIZE.fullmatch(raw) if isinstance(raw, str) else None
    if match is None:
        raise InvalidArgument(f"{raw!r} is not a size; write a number of bytes or a number and a unit such as 4g")
    power = "bkmgtp".index((match[2] or "b").lower())
    return int(float(match[1]) * 1024**power) if "." in match[1] else int(match[1]) * 1024**power


def parse_duration(raw: str) -> float:
    """Return seconds from a Go duration such as `1h30m`, `300ms`, `-1.5h`; a bare number (but 0) is refused."""
    text = raw.removeprefix("-") if isinstance(raw, str) and raw.startswith("-") else raw
    if isinstance(text, str) and text.removeprefix("+") == "0":
        return 0.0
    parts = list(_DURATION_PART.finditer(text)) if isinstance(text, str) else []
    spelled = "".join(part[0] for part in parts)
    if not parts or spelled != text.removeprefix("+"):
        raise InvalidArgument(f"{raw!r} is not a duration; write numbers with units such as 1h30m, 90s, 300ms")
    seconds = sum(float(part[1]) * _SECONDS[part[2]] for part in parts)
    return -seconds if raw.startswith("-") else seconds


def _is_integer(raw: object) -> TypeGuard[int]:
    return isinstance(raw, int) and not isinstance(raw, bool)
