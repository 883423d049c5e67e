"""Statements with a list of names, prepared for a few lengths of it: reports name the same metrics again and again."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Generic, TypeVarTuple

from sqlalchemy import Column, Select, bindparam

from determined.master.db.prepared import prepare

Ts = TypeVarTuple("Ts")


class InNames(Generic[*Ts]):
    """A query of rows of which one column is among given names."""

    def __init__(self, query: Select[*Ts], column: Column[str]) -> None:
        self._query, self._column = query, column
        self._prepared = lru_cache(maxsize=None)(self._prepare)  # a length is a power of two

    def of(self, names: Sequence[str]) -> tuple[Select[*Ts], dict[str, str]]:
        """Return the statement and its parameters. The list is filled up with its last name."""
        length = 1 << (len(names) - 1).bit_length()
        filled = [*names, *[names[-1]] * (length - len(names))]
        return self._prepared(length), {f"name_{n}": name for n, name in enumerate(filled)}

    def _prepare(self, length: int) -> Select[*Ts]:
        names = [bindparam(f"name_{n}", type_=self._column.type) for n in range(length)]
        return prepare(self._query.where(self._column.in_(names)))
