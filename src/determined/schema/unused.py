"""Keys that a config sets and that nothing reads on the engine at hand, as the schema says; told in a sentence."""

from collections.abc import Collection, Iterator

from determined._json import JsonValue
from determined.schema.lists import ListOf
from determined.schema.node import Node
from determined.schema.objects import UNSET, Field, Object, Tagged

Unused = tuple[str, JsonValue, tuple[str, ...]]
"""Path, value, and the engines that would honour it."""


def unused_keys(node: Node[object], value: JsonValue, running: Collection[str], at: str = "") -> Iterator[Unused]:
    """Walk what the user wrote. A key at its default, or empty, asks for nothing and is not named."""
    if isinstance(node, ListOf) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from unused_keys(node.item, item, running, f"{at}[{index}]")
    if not isinstance(node, Object | Tagged) or not isinstance(value, dict):
        return
    fields = node.fields if isinstance(node, Object) else node.fields_of(value)
    for key, item in value.items():
        field = fields.get(key)
        if field is None or _asks_for_nothing(field, item):
            continue
        path = f"{at}.{key}" if at else str(key)
        if field.engines is None:
            yield from unused_keys(field.node, item, running, path)
        elif not set(running) & set(field.engines):
            yield path, item, field.engines


def remarks(unused: Iterator[Unused]) -> list[str]:
    """Say which keys have no effect, those of the same kind together."""
    paths: dict[tuple[str, ...], list[str]] = {}
    for path, _, engines in unused:
        paths.setdefault(engines, []).append(path)
    return [f"{', '.join(names)}: {_reason(engines)}" for engines, names in paths.items()]


def _reason(engines: tuple[str, ...]) -> str:
    if not engines:
        return "accepted, but has no effect"
    if engines == ("docker",):
        return "not used, tasks run as plain processes here; the docker engine honours them"
    return f"not used here; only the {' and '.join(engines)} engine honours it"


def _asks_for_nothing(field: Field, value: JsonValue) -> bool:
    """Return whether it is empty: an image of None for each kind of slot, as a stored config writes it, is too."""
    if value is None or value in ("", [], {}):
        return True
    if isinstance(value, dict) and not any(value.values()) and field.engines is not None:
        return True
    return field.default is not UNSET and value == field.default
