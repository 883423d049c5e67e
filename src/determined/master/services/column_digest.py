"""Keys of user data, with their types and values: of hyperparameters or metadata of many runs. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from determined._json import JsonObject

MAX_VALUES = 100


@dataclass(slots=True)
class Facts:
    """Facts of one key. `values` are scalars, at most MAX_VALUES different ones."""

    numeric: bool = True
    values: set[tuple[bool, Any]] = field(default_factory=set)
    more: bool = False

    def shown(self) -> list[Any]:
        """Return numbers before texts, each sorted."""
        return sorted((value for _, value in self.values), key=lambda v: (isinstance(v, str), v))


def digest(rows: Iterable[JsonObject]) -> dict[str, Facts]:
    """Return the facts by path (`net.width`), sorted. A key with a dot in it has no path and is left out."""
    facts_by_name: dict[str, Facts] = {}
    for row in rows:
        for path, value in _leaves(row, ""):
            facts = facts_by_name.get(path)
            if facts is None:
                facts = facts_by_name[path] = Facts()
            _add(facts, value)
    return dict(sorted(facts_by_name.items()))


def _leaves(row: JsonObject, at: str) -> Iterator[tuple[str, object]]:
    for key, value in row.items():
        if "." in key:
            continue
        if isinstance(value, dict):
            yield from _leaves(value, f"{at}{key}.")
        else:
            yield at + key, value


def _add(facts: Facts, value: object) -> None:
    if value is None:
        return
    if type(value) is not float and type(value) is not int:
        facts.numeric = False
    if isinstance(value, list):
        return
    mark = (type(value) is bool, value)
    if mark in facts.values:
        return
    if len(facts.values) >= MAX_VALUES:
        facts.more = True
        return
    facts.values.add(mark)
