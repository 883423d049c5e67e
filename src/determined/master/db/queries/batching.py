"""Long `IN` lists in pieces: both dialects limit how many values one may have."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, TypeVarTuple

from sqlalchemy import Column, Connection, Select

from determined.master.db import fetch

T = TypeVar("T")
S = TypeVar("S")
Ts = TypeVarTuple("Ts")

_SIZE = 500


def batches(values: Sequence[T], size: int = _SIZE) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


def load_in_order(
    conn: Connection, query: Select[*Ts], struct: Callable[[*Ts], S], key: Column[T], values: Sequence[T]
) -> list[S]:
    """Return the rows whose `key` has one of these values, in their order; values without a row are left out."""
    by_key: dict[T, S] = {}
    for some in batches(values):
        by_key.update((getattr(row, key.name), row) for row in fetch.rows(conn, query.where(key.in_(some)), struct))
    return [by_key[value] for value in values if value in by_key]
