"""Values of a merged config that come from its template. Pure."""

from collections.abc import Iterator

from determined._json import JsonObject, JsonValue
from determined.config.environment import DEVICE_TYPES

# What people write as one value: of every kind of slot, and a hyperparameter that is a constant.
_ONE_VALUE = ({*DEVICE_TYPES}, {"type", "val"})


def paths_from_template(user: JsonObject, template: JsonObject, merged: JsonObject) -> list[str]:
    """List where a merged config has what the template says and not what the user says. All three are canonical."""
    return [
        ".".join(path)
        for path in _leaves(template)
        if (value := _at(merged, path)) is not None and value != _at(user, path)
    ]


def _leaves(value: JsonValue, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict) and value.keys() not in _ONE_VALUE:
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif value is not None and value != []:
        yield path


def _at(value: JsonValue, path: tuple[str, ...]) -> JsonValue:
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
