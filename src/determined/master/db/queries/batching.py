"""Long `IN` lists in pieces: both dialects limit how many values one may have."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

_SIZE = 500


def batches(values: Sequence[T], size: int = _SIZE) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
