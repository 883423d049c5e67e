"""What master and agent configs share: file, environment and flags laid over one another, then checked as one."""

from collections.abc import Iterator, Mapping
from typing import Any

from determined.config.node import FreeMap, MapOf, Node, Report, Text, merge_free
from determined.config.objects import Object
from determined.config.text import parse_yaml_value
from determined.errors import InvalidConfig


def layered(
    schema: Object, file_data: dict[str, Any] | None, env: Mapping[str, str], flags: dict[str, Any]
) -> dict[str, Any]:
    """File, under `DET_*` of `env`, under `flags` (nested, or dotted keys); nulls count as unset."""
    layer = merge_free(_from_env(schema, env), schema.strip(file_data or {}))
    merged: dict[str, Any] = schema.strip(merge_free(_nested(flags), layer))
    return merged


def checked(schema: Object, raw: dict[str, Any], headline: str) -> dict[str, Any]:
    """`raw` with defaults.

    Raises:
        InvalidConfig: with every violation.
    """
    report = Report(complete=True)
    schema.check(raw, "<config>", report)
    if report.violations:
        raise InvalidConfig(headline, report.violations)
    filled: dict[str, Any] = schema.fill(raw)
    return filled


def _from_env(schema: Object, env: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path, node in _leaves(schema):
        text = env.get("DET_" + "_".join(path).upper())
        if text is not None:
            found = merge_free(_at(path, _parsed(node, text)), found)
    return found


def _leaves(schema: Object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
    for key, field in schema.fields.items():
        if isinstance(field.node, Object):
            yield from _leaves(field.node, (*path, key))
        elif not isinstance(field.node, FreeMap | MapOf):
            yield (*path, key), field.node


def _parsed(node: Node, text: str) -> Any:
    # A password such as 0123 must stay the text it is.
    return text if isinstance(node, Text) else parse_yaml_value(text)


def _nested(flags: dict[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for key, value in flags.items():
        if value is not None:
            nested = merge_free(_at(tuple(key.split(".")), value), nested)
    return nested


def _at(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    for key in reversed(path):
        value = {key: value}
    result: dict[str, Any] = value
    return result
