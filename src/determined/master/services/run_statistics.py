"""Groups of rows and exact statistics of their columns. Pure."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of `n` finite numbers; `std` is that of a sample, None below two."""

    n: int
    mean: float | None = None
    std: float | None = None
    min: float | None = None
    max: float | None = None


@dataclass(slots=True)
class Group:
    """Rows with equal keys: their ids, and what they have in each column of numbers."""

    key: list[object]
    ids: list[int]
    values: list[list[float]]


def gather(rows: Iterable[tuple[int, list[object], list[float | None]]], columns: int) -> list[Group]:
    """Return one group per different key, in the order in which keys first come."""
    groups: dict[object, Group] = {}
    for row_id, key, numbers in rows:
        mark = tuple(_mark(value) for value in key)
        group = groups.get(mark)
        if group is None:
            group = groups[mark] = Group(key, [], [[] for _ in range(columns)])
        group.ids.append(row_id)
        for values, number in zip(group.values, numbers, strict=True):
            if number is not None and math.isfinite(number):
                values.append(float(number))
    return list(groups.values())


def statistics(values: Sequence[float]) -> Statistics:
    """Exact to the last bits: sums are not rounded on the way, so that the order of values changes nothing."""
    n = len(values)
    if not n:
        return Statistics(0)
    low, high = min(values), max(values)
    mean = math.fsum(value / n for value in values) if _huge(values) else math.fsum(values) / n
    mean = min(max(mean, low), high)  # of equal values it is that value, whatever the last bit says
    std = math.dist(values, [mean] * n) / math.sqrt(n - 1) if n > 1 else None
    return Statistics(n, mean, std if std is None or math.isfinite(std) else None, low, high)


def ordered(groups: list[Group], terms: Sequence[tuple[Callable[[Group], Any], bool]]) -> list[Group]:
    """Sort by (value, descending) of each term, the first one first; groups without a value come last."""
    for value, descending in reversed(terms):
        valued = [(value(group), group) for group in groups]
        present = sorted((pair for pair in valued if pair[0] is not None), key=_pair_rank, reverse=descending)
        groups = [group for _, group in present] + [group for found, group in valued if found is None]
    return groups


def _mark(value: object) -> object:
    """Equal for equal JSON values, and different for 1, true and "1"."""
    if isinstance(value, dict | list):
        return msgspec.json.encode(value, order="deterministic")
    return type(value) is bool, value


def _pair_rank(pair: tuple[Any, Group]) -> tuple[int, Any]:
    return _rank(pair[0])


def _rank(value: Any) -> tuple[int, Any]:
    """Numbers, then texts, then the rest."""
    if isinstance(value, int | float):
        return 0, value
    if isinstance(value, str):
        return 1, value
    return 2, msgspec.json.encode(value, order="deterministic")


def _huge(values: Sequence[float]) -> bool:
    return max(map(abs, values)) > 1e300
