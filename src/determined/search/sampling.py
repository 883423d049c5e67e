"""Hyperparameters: how one value is read and drawn."""

from typing import Any

from determined.errors import InvalidConfig
from determined.search.rng import Rng


def sample(space: dict[str, Any], rng: Rng) -> dict[str, Any]:
    """One draw of every hyperparameter, names in sorted order at every depth so that a seed means one sequence."""
    return {name: _sample_one(name, space[name], rng) for name in sorted(space)}


def carry_over(
    before: dict[str, Any], after: dict[str, Any], had: dict[str, Any], drawn: dict[str, Any]
) -> dict[str, Any]:
    """Hyperparameters of a trial whose space changes: `drawn` from `after`, but `had` where nothing changed."""
    return {name: _carry_one(before.get(name), after[name], had.get(name), drawn[name]) for name in sorted(after)}


def complete(space: dict[str, Any], point: dict[str, Any], drawn: dict[str, Any]) -> dict[str, Any]:
    """An initial point as a trial's hyperparameters: what the user named, and `drawn` for all that he left open."""
    return {
        name: complete(value, point[name], drawn[name])
        if is_group(value) and isinstance(point.get(name), dict)
        else point.get(name, drawn[name])
        for name, value in sorted(space.items())
    }


def is_group(value: Any) -> bool:
    """A map without `type` is a nested group; everything else is one hyperparameter."""
    return isinstance(value, dict) and "type" not in value


def constant(value: Any) -> tuple[Any] | None:
    """The value of a constant in a tuple of one, or None for what varies. Nothing inside a list is ever sampled."""
    if not isinstance(value, dict):
        return (value,)
    if value.get("type") == "const":
        return (value["val"],)
    return None


def unknown_type(route: str, value: dict[str, Any]) -> InvalidConfig:
    return InvalidConfig(
        "invalid experiment configuration",
        [
            f"<config>.hyperparameters.{route}: type must be int, double, log, const or categorical,"
            f" not {value['type']!r}"
        ],
    )


def _carry_one(before: Any, after: Any, had: Any, drawn: Any) -> Any:
    if is_group(before) and is_group(after) and isinstance(had, dict):
        return carry_over(before, after, had, drawn)
    return had if before == after and had is not None else drawn


def _sample_one(route: str, value: Any, rng: Rng) -> Any:
    if is_group(value):
        return {name: _sample_one(f"{route}.{name}", value[name], rng) for name in sorted(value)}
    fixed = constant(value)
    if fixed is not None:
        return fixed[0]
    return _draw(route, value, rng)


def _draw(route: str, value: dict[str, Any], rng: Rng) -> Any:
    match value["type"]:
        case "int":
            low = int(value["minval"])
            return low + rng.below(int(value["maxval"]) - low + 1)
        case "double":
            return rng.uniform(float(value["minval"]), float(value["maxval"]))
        case "log":
            return float(value["base"]) ** rng.uniform(float(value["minval"]), float(value["maxval"]))
        case "categorical":
            return value["vals"][rng.below(len(value["vals"]))]
    raise unknown_type(route, value)
