"""Keys that a config sets and that nothing reads on the engine at hand, as the schema says; told in a sentence."""

from collections.abc import Collection, Iterator
from typing import Any

from determined.config.node import ListOf, Node
from determined.config.objects import UNSET, Field, Object, Tagged

Unused = tuple[str, Any, tuple[str, ...]]
"""Path, value, and the engines that would honour it."""


def unused_keys(node: Node, value: Any, engines: Collection[str], at: str = "") -> Iterator[Unused]:
    """Walk what the user wrote. A key at its default, or empty, asks for nothing and is not named."""
    if isinstance(node, ListOf) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from unused_keys(node.item, item, engines, f"{at}[{index}]")
    if not isinstance(node, Object | Tagged) or not isinstance(value, dict):
        return
    fields = node.fields if isinstance(node, Object) else node.fields_of(value)
    for key, item in value.items():
        field = fields.get(key)
        if field is None or _asks_for_nothing(field, item):
            continue
        path = f"{at}.{key}" if at else str(key)
        if field.honoured_by is None:
            yield from unused_keys(field.node, item, engines, path)
        elif not set(engines) & set(field.honoured_by):
            yield path, item, field.honoured_by


def remarks(found: Iterator[Unused]) -> list[str]:
    """Say which keys have no effect, those of the same kind together."""
    paths: dict[tuple[str, ...], list[str]] = {}
    for path, _, honoured_by in found:
        paths.setdefault(honoured_by, []).append(path)
    return [f"{', '.join(names)}: {_reason(honoured_by)}" for honoured_by, names in paths.items()]


def _reason(honoured_by: tuple[str, ...]) -> str:
    if not honoured_by:
        return "accepted, but has no effect"
    if honoured_by == ("docker",):
        return "not used, tasks run as plain processes here; the docker engine honours them"
    return f"not used here; only the {' and '.join(honoured_by)} engine honours it"


def _asks_for_nothing(field: Field, value: Any) -> bool:
    """An image of None for each kind of slot, as a stored config writes it, is empty too."""
    if value is None or value in ("", [], {}):
        return True
    if isinstance(value, dict) and not any(value.values()) and field.honoured_by is not None:
        return True
    return field.default is not UNSET and value == field.default
