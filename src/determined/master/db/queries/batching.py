"""Shapes every query file shares: a row of any columns, and long `IN` lists in pieces (both dialects limit them)."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import Row

T = TypeVar("T")

AnyRow: TypeAlias = Row[*tuple[Any, ...]]

_SIZE = 500


def batches(values: Sequence[T], size: int = _SIZE) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
