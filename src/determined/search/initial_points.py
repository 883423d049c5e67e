"""Points to evaluate first, checked against the hyperparameters they are points of."""

import math
from collections.abc import Callable, Iterator

from determined._json import JsonObject
from determined.schema.node import kind_of
from determined.search.sampling import is_group

Problem = tuple[str, str]  # path below the config, reason


def point_problems(points: object, space: object) -> Iterator[Problem]:
    """Find what is wrong with `searcher.initial_points`; `space` is the canonical `hyperparameters`."""
    if not isinstance(points, list) or not isinstance(space, dict):
        return
    for index, point in enumerate(points):
        at = f"searcher.initial_points[{index}]"
        if isinstance(point, dict) and point:
            yield from _group(point, space, at)
        elif isinstance(point, dict):
            yield at, "names no hyperparameter; give at least one, or drop it"


def _group(point: JsonObject, space: JsonObject, at: str) -> Iterator[Problem]:
    for name, value in point.items():
        where = f"{at}.{name}"
        if name not in space:
            known = ", ".join(sorted(space)) or "none"
            yield where, f"is not among the hyperparameters ({known})"
        elif is_group(space[name]):
            yield from _nested(value, space[name], where)
        elif isinstance(space[name], dict):
            reason = _value_problem(value, space[name])
            if reason:
                yield where, reason


def _nested(value: object, space: JsonObject, at: str) -> Iterator[Problem]:
    if isinstance(value, dict):
        yield from _group(value, space, at)
    else:
        yield at, f"must be a mapping like the hyperparameters of that name, not {kind_of(value)}"


def _value_problem(value: object, spec: JsonObject) -> str | None:
    """Return what is wrong with a value; None also for a wrong hyperparameter: that is reported where it stands."""
    check = _CHECKS.get(spec.get("type", ""))
    try:
        return check(value, spec) if check else None
    except (KeyError, TypeError, ArithmeticError):
        return None


def _const(value: object, spec: JsonObject) -> str | None:
    return None if _same(value, spec["val"]) else f"is the constant {spec['val']!r}, not {value!r}"


def _categorical(value: object, spec: JsonObject) -> str | None:
    known = any(_same(value, one) for one in spec["vals"])
    return None if known else f"must be one of {spec['vals']!r}, not {value!r}"


def _int(value: object, spec: JsonObject) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return f"must be an integer, not {kind_of(value)}"
    low, high = spec["minval"], spec["maxval"]
    return None if low <= value <= high else f"must lie between {low} and {high}, not {value}"


def _double(value: object, spec: JsonObject) -> str | None:
    return _number_problem(value, spec["minval"], spec["maxval"])


def _log(value: object, spec: JsonObject) -> str | None:
    return _number_problem(value, *sorted((spec["base"] ** spec["minval"], spec["base"] ** spec["maxval"])))


_CHECKS: dict[str, Callable[[object, JsonObject], str | None]] = {
    "const": _const,
    "categorical": _categorical,
    "int": _int,
    "double": _double,
    "log": _log,
}


def _number_problem(value: object, low: float, high: float) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"must be a number, not {kind_of(value)}"
    # The ends of a log range are powers, which round: 10 ** -3 is not quite 0.001.
    inside = low <= value <= high or math.isclose(value, low) or math.isclose(value, high)
    return None if inside else f"must lie between {low} and {high}, not {value}"


def _same(one: object, other: object) -> bool:
    """Equal, without taking true for 1 or false for 0."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
