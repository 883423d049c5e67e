"""The part of a config that a schema knows, for layers that are shared with other kinds of configs."""

from typing import cast

from determined._json import JsonObject, JsonValue
from determined.schema.lists import ListOf
from determined.schema.node import MustBeNull, Node
from determined.schema.objects import Field, Object, Tagged
from determined.schema.section import Section


def known_part(section: type[Section], canonical: JsonObject) -> JsonObject:
    """Copy canonical data without keys that the section, or a section in it, does not have or wants to be null."""
    return cast(JsonObject, _known(section.schema, canonical))


def _known(node: Node[object], value: JsonValue) -> JsonValue:
    if isinstance(node, ListOf) and isinstance(value, list):
        return [_known(node.item, item) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(node, Object):
        return _of_fields(node.fields, value, extra=node.extra)
    if isinstance(node, Tagged):
        has_extra = any(variant.extra for variant in node.variants.values())
        return _of_fields(node.fields_of(value), value, extra=has_extra)
    return value


def _of_fields(fields: dict[str, Field], value: JsonObject, *, extra: bool) -> JsonObject:
    allowed = {key: field.node for key, field in fields.items() if not isinstance(field.node, MustBeNull)}
    return {
        key: _known(allowed[key], item) if key in allowed else item
        for key, item in value.items()
        if key in allowed or (extra and key not in fields)
    }
