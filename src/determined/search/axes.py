"""The search space as a model sees it: one flat axis of plain numbers per hyperparameter that varies.

A log hyperparameter is modelled by its exponent, a categorical one by the place of the value in `vals`, so that any
JSON (maps, lists, null) can be a category. Constants are no axes; they come back in `Axes.point`.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from determined._json import JsonObject, JsonValue
from determined.search.sampling import constant, is_group, unknown_type

Route = tuple[str, ...]


class AxisKind(StrEnum):
    INT = "int"
    FLOAT = "float"
    CATEGORY = "category"


@dataclass(frozen=True, slots=True)
class Axis:
    """`name` is unique within the space; `label` is what users read (`optimizer.lr`)."""

    name: str
    route: Route
    kind: AxisKind
    low: float
    high: float
    base: float | None = None  # of a log hyperparameter
    choices: tuple[str, ...] = ()  # of a categorical one: its values as JSON, for comparison
    vals: tuple[JsonValue, ...] = ()  # and as they are

    @property
    def label(self) -> str:
        return ".".join(self.route)

    def number(self, value: object) -> float | int | None:
        """Return where a hyperparameter's value lies on the axis; None for what does not belong to it."""
        if self.kind is AxisKind.CATEGORY:
            text = _as_json(value)
            return self.choices.index(text) if text in self.choices else None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        if self.base is not None:
            if value <= 0:
                return None
            value = math.log(value) / math.log(self.base)
        within = min(max(value, self.low), self.high)  # rounding of base**x must not push a bound out
        return round(within) if self.kind is AxisKind.INT else float(within)

    def value(self, number: float) -> JsonValue:
        """Return the hyperparameter's value at this place."""
        if self.kind is AxisKind.CATEGORY:
            return self.vals[int(number)]
        if self.kind is AxisKind.INT:
            return int(number)
        return float(number) if self.base is None else self.base ** float(number)


class Axes:
    """Axes of a space, in the order in which values are drawn (names sorted at every depth)."""

    def __init__(self, space: JsonObject) -> None:
        self._space = space
        axes = [_axis(str(n), route, spec) for n, (route, spec) in enumerate(_leaves(space, ()))]
        self.each: list[Axis] = [axis for axis in axes if axis.high > axis.low]  # a single category does not vary

    def numbers(self, hparams: JsonObject) -> dict[str, float | int] | None:
        """Return a trial's hyperparameters by axis name; None where they do not belong to this space."""
        numbers: dict[str, float | int] = {}
        for axis in self.each:
            number = axis.number(_at(hparams, axis.route))
            if number is None:
                return None
            numbers[axis.name] = number
        return numbers

    def point(self, numbers: dict[str, float | int]) -> JsonObject:
        """Return the hyperparameters nested as the space is, constants included."""
        values = {axis.route: axis.value(numbers[axis.name]) for axis in self.each}
        return _nested(self._space, (), values)


def _leaves(space: JsonObject, above: Route) -> Iterator[tuple[Route, JsonObject]]:
    for name in sorted(space):
        spec, route = space[name], (*above, name)
        if is_group(spec):
            yield from _leaves(spec, route)
        elif constant(spec) is None:
            yield route, spec


def _axis(name: str, route: Route, spec: JsonObject) -> Axis:
    match spec["type"]:
        case "int":
            return Axis(name, route, AxisKind.INT, int(spec["minval"]), int(spec["maxval"]))
        case "double":
            return Axis(name, route, AxisKind.FLOAT, float(spec["minval"]), float(spec["maxval"]))
        case "log":
            low, high = float(spec["minval"]), float(spec["maxval"])
            return Axis(name, route, AxisKind.FLOAT, low, high, base=float(spec["base"]))
        case "categorical":
            by_json = {_as_json(value): value for value in spec["vals"]}
            choices, vals = tuple(by_json), tuple(by_json.values())
            return Axis(name, route, AxisKind.CATEGORY, 0, len(vals) - 1, choices=choices, vals=vals)
    raise unknown_type(".".join(route), spec)


def _nested(space: JsonObject, above: Route, values: dict[Route, JsonValue]) -> JsonObject:
    point: JsonObject = {}
    for name in sorted(space):
        spec, route = space[name], (*above, name)
        if is_group(spec):
            point[name] = _nested(spec, route, values)
        elif route in values:
            point[name] = values[route]
        else:
            fixed = constant(spec)
            point[name] = fixed[0] if fixed is not None else spec["vals"][0]
    return point


def _at(hparams: object, route: Route) -> object:
    for name in route:
        if not isinstance(hparams, dict) or name not in hparams:
            return _Missing
        hparams = hparams[name]
    return hparams


class _Missing:
    """No hyperparameter of that name; null would be a value."""


def _as_json(value: object) -> str:
    """Write a value so that it tells true from 1, which Python does not, and takes 1.0 for 1, as YAML's readers do."""
    if value is _Missing:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True)
