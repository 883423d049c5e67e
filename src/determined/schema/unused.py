"""Keys that a config sets and that nothing reads on the engine at hand, as the schema says; told in a sentence."""

from collections.abc import Iterator

from determined._json import JsonValue
from determined.schema.engine_traits import RUNS_CONTAINERS, EngineTraits
from determined.schema.lists import ListOf
from determined.schema.node import Node
from determined.schema.objects import UNSET, Field, Object, Tagged

Unused = tuple[str, JsonValue, tuple[str, ...]]
"""Path, value, and the engines that would honour it, by kind or trait."""


def unused_keys(node: Node[object], value: JsonValue, running: EngineTraits, at: str = "") -> Iterator[Unused]:
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
        elif not running.honour(field.engines):
            yield path, item, field.engines


def unused_remarks(node: Node[object], value: JsonValue, running: EngineTraits) -> list[str]:
    """Say which keys have no effect, those of the same kind together."""
    paths: dict[tuple[str, ...], list[str]] = {}
    for path, _, engines in unused_keys(node, value, running):
        paths.setdefault(engines, []).append(path)
    return [f"{', '.join(names)}: {_reason(engines, running)}" for engines, names in paths.items()]


def _reason(engines: tuple[str, ...], running: EngineTraits) -> str:
    if not engines:
        return "accepted, but has no effect"
    kinds = running.kinds_of(engines)
    if engines == (RUNS_CONTAINERS,):
        honour = "engine honours" if len(kinds) == 1 else "engines honour"
        return f"not used, tasks run as plain processes here; the {' and '.join(kinds)} {honour} them"
    return f"not used here; only the {' and '.join(kinds)} engine honours it"


def _asks_for_nothing(field: Field, value: JsonValue) -> bool:
    """Return whether it is empty: an image of None for each kind of slot, as a stored config writes it, is too."""
    if value is None or value in ("", [], {}):
        return True
    if isinstance(value, dict) and not any(value.values()) and field.engines is not None:
        return True
    return field.default is not UNSET and value == field.default
