"""Objectives of a search: one metric or several, each with its direction; lower is better once signed."""

import math
from dataclasses import dataclass

from determined._json import JsonObject
from determined.errors import InvalidArgument
from determined.search.method import WORST
from determined.wire.codec import float_from_wire

_SPELLED = ("NaN", "Infinity", "-Infinity")  # as the wire spells what JSON cannot


@dataclass(frozen=True, slots=True)
class Objective:
    name: str
    smaller_is_better: bool


@dataclass(frozen=True, slots=True)
class Objectives:
    """The first one steers methods that compare trials by a single number."""

    each: tuple[Objective, ...]

    @classmethod
    def of(cls, searcher: JsonObject) -> "Objectives":
        """Read a searcher section: `metrics` (several, each with its direction), else `metric`."""
        several = searcher.get("metrics")
        if several:
            return cls(tuple(Objective(one["name"], one.get("smaller_is_better", True)) for one in several))
        return cls((Objective(searcher.get("metric") or "", searcher.get("smaller_is_better", True)),))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.each)

    def signed(self, metric: object) -> list[float]:
        """Return one finite number per objective, lower is better; NaN is the worst there is.

        Args:
            metric: a number, or a map of metric names when there are several objectives (or one given by name).

        Raises:
            InvalidArgument: an objective is missing or is not a number.
        """
        return [_signed(one, metric.get(one.name) if isinstance(metric, dict) else metric) for one in self.each]


def _signed(objective: Objective, value: object) -> float:
    if value in _SPELLED:
        value = float_from_wire(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidArgument(
            f"searcher metric {objective.name!r} is {value!r}, not a number; report it with every validation,"
            " or name another one in searcher.metric"
        )
    number = float(value) if objective.smaller_is_better else -float(value)
    return WORST if math.isnan(number) else min(max(number, -WORST), WORST)
