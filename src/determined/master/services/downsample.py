"""Long series made short for charts: buckets of equal size, each with its last value, minimum and maximum. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

_NUMBERS = {int, float}


@dataclass(frozen=True, slots=True)
class Bucket:
    """Bucket of reports. `at` is the index of its last report that carries the value."""

    at: int
    last: Any
    min: Any
    max: Any


def spans(n: int, points: int) -> list[tuple[int, int]]:
    """Cut `n` reports into at most `points` half-open ranges of equal size; with few reports each is its own."""
    if n <= points:
        return [(i, i + 1) for i in range(n)]
    return [(i * n // points, (i + 1) * n // points) for i in range(points)]


def bucket(values: Sequence[Any], start: int, end: int) -> Bucket | None:
    """Return the bucket of a range; None when no report has a value. NaN and infinities are `last`, not extremes."""
    part = values[start:end]
    at = end - 1
    while at >= start and values[at] is None:
        at -= 1
    if at < start:
        return None
    numbers = _finite(part)
    last = values[at]
    if not numbers:
        return Bucket(at, last, last, last)
    return Bucket(at, last, min(numbers), max(numbers))


def is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _finite(part: Sequence[Any]) -> Sequence[Any]:
    """Return the finite values. Ordinary numbers are taken as they are: a chart has a hundred thousand points."""
    if set(map(type, part)) <= _NUMBERS and math.isfinite(sum(part)):
        return part
    return [v for v in part if is_number(v) and math.isfinite(v)]
