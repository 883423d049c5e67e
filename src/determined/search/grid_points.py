"""Points of a grid: the product of the hyperparameters' values.

A point is computed from its index when it is asked for, so a grid of a million points costs no more than one of ten.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

from determined._json import JsonObject, JsonValue
from determined.errors import InvalidConfig
from determined.search import sampling


@dataclass(frozen=True, slots=True)
class Axis:
    """The values of one hyperparameter; `route` is the names that lead to it."""

    route: tuple[str, ...]
    size: int
    at: Callable[[int], JsonValue]


class GridPoints:
    """The points in order, the first axis slowest."""

    def __init__(self, space: JsonObject) -> None:
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

    def __getitem__(self, index: int) -> JsonObject:
        chosen: list[tuple[Axis, int]] = []
        for axis in reversed(self._axes):
            index, place = divmod(index, axis.size)
            chosen.append((axis, place))
        point: JsonObject = {}
        for axis, place in reversed(chosen):
            _put(point, axis.route, axis.at(place))
        return point


def _put(point: JsonObject, route: tuple[str, ...], value: JsonValue) -> None:
    *groups, name = route
    for group in groups:
        point = point.setdefault(group, {})
    point[name] = value


def _axes(route: tuple[str, ...], value: JsonValue) -> list[Axis]:
    if sampling.is_group(value):
        if not value:
            return [Axis(route, 1, lambda _: {})]
        return [axis for name in sorted(value) for axis in _axes((*route, name), value[name])]
    fixed = sampling.constant(value)
    if fixed is not None:
        return [Axis(route, 1, lambda _: fixed[0])]
    assert isinstance(value, dict)  # all else is constant
    return [_axis(route, value)]


def _axis(route: tuple[str, ...], value: JsonObject) -> Axis:
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


def _count(route: tuple[str, ...], value: JsonObject) -> int:
    count = value.get("count")
    if count is None:
        raise _invalid(route, "grid search is in use but `count` was not provided: add `count`, how many points to try")
    return int(count)


def _at_least_one(route: tuple[str, ...], values: list[JsonValue]) -> int:
    if not values:
        raise _invalid(route, "vals is empty, so the grid has no point; give at least one value")
    return len(values)


def _invalid(route: tuple[str, ...], why: str) -> InvalidConfig:
    return InvalidConfig("invalid experiment configuration", [f"<config>.hyperparameters.{'.'.join(route)}: {why}"])
