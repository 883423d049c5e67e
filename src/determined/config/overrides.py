"""`--config key=value` on a command line: edits of a raw config before it is sent."""

from collections.abc import Iterable

from determined._json import JsonObject, JsonValue
from determined.errors import InvalidArgument
from determined.schema.lists import merge_free
from determined.schema.text import parse_yaml_value


def apply_overrides(raw: JsonObject, overrides: Iterable[str]) -> JsonObject:
    """`raw` with each `a.b=value` laid over it, in order. Dots nest; a mapping over a scalar replaces it.

    Raises:
        InvalidArgument: text without `=`, or an empty part in the key.
        InvalidConfig: a value that is not YAML.
    """
    for override in overrides:
        raw = _set(raw, *parse_override(override))
    return raw


def parse_override(text: str) -> tuple[list[str], JsonValue]:
    """Return the path and the value of one `a.b=value`."""
    key, separator, value = text.partition("=")
    path = key.split(".")
    if not separator or not all(path):
        raise InvalidArgument(f"cannot read the override {text!r}; write key=value, with dots for nesting")
    parsed = _parse_value(value)
    if path[-1] == "bind_mounts" and not isinstance(parsed, list):
        parsed = [parsed]
    return path, parsed


def _parse_value(text: str) -> JsonValue:
    if text.startswith(("[", "{")):
        return parse_yaml_value(text)
    if "," in text:
        return [_scalar(part) for part in text.split(",")]
    return _scalar(text)


def _scalar(text: str) -> JsonValue:
    return parse_yaml_value(text)


def _set(raw: JsonObject, path: list[str], value: JsonValue) -> JsonObject:
    head, *rest = path
    below = raw.get(head)
    if not rest:
        merged = merge_free(value, below) if isinstance(value, dict) else value
        return {**raw, head: merged}
    return {**raw, head: _set(below if isinstance(below, dict) else {}, rest, value)}
