"""File, environment and flags of a process laid over one another, then checked as one."""

from collections.abc import Iterator, Mapping
from typing import cast

from determined._json import JsonObject, JsonValue
from determined.errors import InvalidConfig
from determined.schema.lists import FreeMap, MapOf, merge_free
from determined.schema.node import Node, Report, Text
from determined.schema.objects import Object
from determined.schema.section import Section
from determined.schema.text import parse_yaml_value


def layered(
    section: type[Section], file_data: JsonObject | None, env: Mapping[str, str], flags: JsonObject
) -> JsonObject:
    """File, under `DET_*` of `env`, under `flags` (nested, or dotted keys); nulls count as unset."""
    layer = merge_free(_from_env(section.schema, env), section.canonical(file_data or {}))
    return section.canonical(cast(JsonObject, merge_free(_nested(flags), layer)))


def checked(section: type[Section], raw: JsonObject, headline: str) -> JsonObject:
    """Write the defaults of canonical data of which nothing may be missing.

    Raises:
        InvalidConfig: with every violation.
    """
    report = Report(complete=True)
    section.schema.check(raw, "<config>", report)
    if report.violations:
        raise InvalidConfig(headline, report.violations)
    return section.fill(raw)


def _from_env(schema: Object[object], env: Mapping[str, str]) -> JsonObject:
    layer: JsonObject = {}
    for path, node in _leaves(schema):
        variable = "DET_" + "_".join(path).upper()
        if variable in env:
            layer = cast(JsonObject, merge_free(_at(path, _parsed(node, variable, env[variable])), layer))
    return layer


def _leaves(schema: Object[object], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node[object]]]:
    for key, field in schema.fields.items():
        if isinstance(field.node, Object):
            yield from _leaves(field.node, (*path, key))
        elif not isinstance(field.node, FreeMap | MapOf):
            yield (*path, key), field.node


def _parsed(node: Node[object], variable: str, text: str) -> JsonValue:
    if isinstance(node, Text):
        return text  # a password such as 0123 must stay the text it is
    try:
        return parse_yaml_value(text)
    except InvalidConfig as error:
        # Without its value, which may hold the credentials of a storage.
        raise InvalidConfig(f"the environment variable {variable} cannot be read: {error.message}") from None


def _nested(flags: JsonObject) -> JsonObject:
    nested: JsonObject = {}
    for key, value in flags.items():
        if value is not None:
            nested = cast(JsonObject, merge_free(_at(tuple(key.split(".")), value), nested))
    return nested


def _at(path: tuple[str, ...], value: JsonValue) -> JsonObject:
    for key in reversed(path):
        value = {key: value}
    return cast(JsonObject, value)
