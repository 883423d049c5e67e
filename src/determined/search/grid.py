"""Grid search: every point of the product of the hyperparameters' values, the last point first.

Points are computed from their index when they are created, so a grid of a million points costs no more than one of ten.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from determined.errors import InvalidConfig
from determined.search import sampling
from determined.search.method import Operation, SearchContext, SearchMethod, Tally, open_trial
from determined.search.random import mean_progress


class GridSearch(SearchMethod):
    """`length` is the classic max_length in units, None in the late generation; max_concurrent 0 is no bound."""

    def __init__(self, space: dict[str, Any], *, max_concurrent: int, length: int | None) -> None:
        self._grid = Grid(space)
        self._max_concurrent = max_concurrent
        self._length = length
        self._remaining = len(self._grid)
        self._pending = 0

    def initial(self, ctx: SearchContext) -> list[Operation]:
        count = min(self._remaining, self._max_concurrent or self._remaining)
        return [op for _ in range(count) for op in self._open(ctx)]

    def exited(self, ctx: SearchContext, request_id: str) -> list[Operation]:
        self._pending -= 1
        return self._open(ctx) if self._remaining else []

    def progress(self, tally: Tally) -> float:
        if self._length is None:
            return mean_progress(tally)
        if not self._length:
            return 0.0
        units = tally.open_units + (len(self._grid) - self._remaining - self._pending) * self._length
        return min(units / (self._length * len(self._grid)), 1.0)

    def snapshot(self) -> dict[str, Any]:
        return {"pending_trials": self._pending, "remaining_trials": self._remaining}

    def restore(self, state: dict[str, Any]) -> None:
        self._pending = state["pending_trials"]
        self._remaining = state["remaining_trials"]

    def _open(self, ctx: SearchContext) -> list[Operation]:
        self._remaining -= 1
        self._pending += 1
        return open_trial(ctx, self._length, self._grid[self._remaining])


@dataclass(frozen=True, slots=True)
class Axis:
    """The values of one hyperparameter; `route` is the names that lead to it."""

    route: tuple[str, ...]
    size: int
    at: Callable[[int], Any]


class Grid:
    """The points in order, the first axis slowest."""

    def __init__(self, space: dict[str, Any]) -> None:
        self._axes = [axis for name in sorted(space) for axis in _axes((name,), space[name])]
        self._size = math.prod(axis.size for axis in self._axes)
        if self._size > sys.maxsize:
            sizes = ", ".join(f"{'.'.join(axis.route)}: {axis.size}" for axis in self._axes if axis.size > 1)
            raise InvalidConfig(
                "invalid experiment configuration",
                [f"<config>.hyperparameters: the grid has more points than can be counted ({sizes}); lower the counts"],
            )

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> dict[str, Any]:
        chosen: list[tuple[Axis, int]] = []
        for axis in reversed(self._axes):
            index, place = divmod(index, axis.size)
            chosen.append((axis, place))
        point: dict[str, Any] = {}
        for axis, place in reversed(chosen):
            _put(point, axis.route, axis.at(place))
        return point


def _put(point: dict[str, Any], route: tuple[str, ...], value: Any) -> None:
    *groups, name = route
    for group in groups:
        point = point.setdefault(group, {})
    point[name] = value


def _axes(route: tuple[str, ...], value: Any) -> list[Axis]:
    if sampling.is_group(value):
        if not value:
            return [Axis(route, 1, lambda _: {})]
        return [axis for name in sorted(value) for axis in _axes((*route, name), value[name])]
    fixed = sampling.constant(value)
    if fixed is not None:
        return [Axis(route, 1, lambda _: fixed[0])]
    return [_axis(route, value)]


def _axis(route: tuple[str, ...], value: dict[str, Any]) -> Axis:
    match value["type"]:
        case "categorical":
            return Axis(route, _at_least_one(route, value["vals"]), value["vals"].__getitem__)
        case "int":
            low, high = int(value["minval"]), int(value["maxval"])
            size = min(_count(route, value), high - low + 1)
            return Axis(route, size, lambda i: _round_half_away(_spread(low, high, i, size)))
        case "double":
            low_x, high_x, size = float(value["minval"]), float(value["maxval"]), _count(route, value)
            return Axis(route, size, lambda i: _spread(low_x, high_x, i, size))
        case "log":
            low_x, high_x, size = float(value["minval"]), float(value["maxval"]), _count(route, value)
            base = float(value["base"])
            return Axis(route, size, lambda i: base ** _spread(low_x, high_x, i, size))
    raise sampling.unknown_type(".".join(route), value)


def _spread(low: float, high: float, i: int, size: int) -> float:
    if size == 1:
        return (low + high) / 2
    return low + i * (high - low) / (size - 1)


def _round_half_away(x: float) -> int:
    # Not round(): upstream's grids round halves away from zero, Python rounds them to even.
    return math.floor(x + 0.5) if x >= 0 else -math.floor(0.5 - x)


def _count(route: tuple[str, ...], value: dict[str, Any]) -> int:
    count = value.get("count")
    if count is None:
        raise _invalid(route, "grid search is in use but `count` was not provided: add `count`, how many points to try")
    return int(count)


def _at_least_one(route: tuple[str, ...], values: list[Any]) -> int:
    if not values:
        raise _invalid(route, "vals is empty, so the grid has no point; give at least one value")
    return len(values)


def _invalid(route: tuple[str, ...], why: str) -> InvalidConfig:
    return InvalidConfig("invalid experiment configuration", [f"<config>.hyperparameters.{'.'.join(route)}: {why}"])
