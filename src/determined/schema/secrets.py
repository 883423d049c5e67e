"""Names of the secret fields of a schema, by the name of the section that holds them."""

from collections.abc import Iterator

from determined.schema.lists import ListOf, MapOf
from determined.schema.node import Node
from determined.schema.objects import Field, Object, Tagged


def secret_names(node: Node[object]) -> dict[str, frozenset[str]]:
    """Find the secret fields below a node. By name, so that data of a wrong shape is masked as well."""
    names: dict[str, frozenset[str]] = {}
    for section, key in _secrets(node, ""):
        names[section] = names.get(section, frozenset()) | {key}
    return names


def _secrets(node: Node[object], name: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, ListOf | MapOf):
        yield from _secrets(node.item, name)
    for key, field in _fields(node):
        if field.secret:
            yield name, key
        yield from _secrets(field.node, key)


def _fields(node: Node[object]) -> Iterator[tuple[str, Field]]:
    if isinstance(node, Object):
        yield from node.fields.items()
    elif isinstance(node, Tagged):
        for variant in node.variants.values():
            yield from variant.fields.items()
