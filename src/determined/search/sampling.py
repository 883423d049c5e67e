"""Hyperparameters: how one value is read and drawn."""

from typing import TypeGuard

from determined._json import JsonObject, JsonValue
from determined.errors import InvalidConfig
from determined.search.rng import Rng


def sample(space: JsonObject, rng: Rng) -> JsonObject:
    """Draw every hyperparameter once, names in sorted order at every depth so that a seed means one sequence."""
    return {name: _sample_one(name, space[name], rng) for name in sorted(space)}


def carry_over(before: JsonObject, after: JsonObject, had: JsonObject, drawn: JsonObject) -> JsonObject:
    """Return hyperparameters of a trial whose space changes: `drawn` from `after`, but `had` where nothing changed."""
    return {name: _carry_one(before.get(name), after[name], had.get(name), drawn[name]) for name in sorted(after)}


def complete(space: JsonObject, point: JsonObject, drawn: JsonObject) -> JsonObject:
    """Return an initial point as a trial's hyperparameters: those the user named, and `drawn` for all others."""
    return {
        name: complete(value, point[name], drawn[name])
        if is_group(value) and isinstance(point.get(name), dict)
        else point.get(name, drawn[name])
        for name, value in sorted(space.items())
    }


def is_group(value: object) -> TypeGuard[JsonObject]:
    """Tell whether a value is a group: a map without `type` nests more hyperparameters; everything else is a leaf."""
    return isinstance(value, dict) and "type" not in value


def constant(value: JsonValue) -> tuple[JsonValue] | None:
    """Return the value of a constant in a tuple of one; None for what varies. Nothing inside a list is ever sampled."""
    if not isinstance(value, dict):
        return (value,)
    if value.get("type") == "const":
        return (value["val"],)
    return None


def unknown_type(route: str, value: JsonObject) -> InvalidConfig:
    return InvalidConfig(
        "invalid experiment configuration",
        [
            f"<config>.hyperparameters.{route}: type must be int, double, log, const or categorical,"
            f" not {value['type']!r}"
        ],
    )


def _carry_one(before: JsonValue, after: JsonValue, had: JsonValue, drawn: JsonValue) -> JsonValue:
    if is_group(before) and is_group(after) and isinstance(had, dict) and isinstance(drawn, dict):
        return carry_over(before, after, had, drawn)
    return had if before == after and had is not None else drawn


def _sample_one(route: str, value: JsonValue, rng: Rng) -> JsonValue:
    if is_group(value):
        return {name: _sample_one(f"{route}.{name}", value[name], rng) for name in sorted(value)}
    fixed = constant(value)
    if fixed is not None:
        return fixed[0]
    assert isinstance(value, dict)  # all else is constant
    return _draw(route, value, rng)


def _draw(route: str, value: JsonObject, rng: Rng) -> JsonValue:
    match value["type"]:
        case "int":
            low = int(value["minval"])
            return low + rng.below(int(value["maxval"]) - low + 1)
        case "double":
            return rng.uniform(float(value["minval"]), float(value["maxval"]))
        case "log":
            power: float = float(value["base"]) ** rng.uniform(float(value["minval"]), float(value["maxval"]))
            return power
        case "categorical":
            vals: list[JsonValue] = value["vals"]
            return vals[rng.below(len(vals))]
    raise unknown_type(route, value)
