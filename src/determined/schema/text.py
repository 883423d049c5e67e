"""YAML text to plain data: safe, no dates, no duplicate keys, bounded depth and size, errors with line and column."""

from collections.abc import Hashable
from typing import Any

import yaml

from determined._json import JsonObject, JsonValue
from determined.constants import MAX_CONFIG_CHARS
from determined.errors import InvalidConfig
from determined.schema.node import kind_of
from determined.schema.storable import MAX_DEPTH

# Keys, values, lists and mappings: a million of them would take minutes and gigabytes, and configs have some hundred.
MAX_NODES = 30_000

_TOO_MANY = f"the config has more than {MAX_NODES} keys and values; put data into files of the model directory"

_BaseLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_yaml(text: str) -> JsonObject:
    """Return a mapping from YAML or JSON text; empty text is an empty mapping.

    Raises:
        InvalidConfig: not YAML, not a mapping, a key given twice, or longer, larger or deeper than any sane config.
    """
    value = parse_yaml_value(text)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidConfig(f"the config must be a mapping of keys to values, not {kind_of(value)}")
    return value


def parse_yaml_value(text: str) -> JsonValue:
    """Any single YAML document as plain data: dict with string keys, list, str, int, float, bool, None."""
    try:
        node = compose_yaml(text)
        if node is None:
            return None
        _expanded_size(node, {}, set())
        return _construct(node)
    except yaml.YAMLError as error:
        raise InvalidConfig(f"the config is not valid YAML: {_located(error)}") from None
    except (RecursionError, UnicodeEncodeError, ValueError) as error:
        raise InvalidConfig(f"the config is not valid YAML: {error}") from None


def compose_yaml(text: str) -> yaml.Node | None:
    """Return the tree of a single document, with the places of its nodes; None for an empty one.

    Raises:
        InvalidConfig: longer, larger or deeper than any sane config.
        yaml.YAMLError, ValueError, UnicodeEncodeError: not YAML.
    """
    if len(text) > MAX_CONFIG_CHARS:
        raise InvalidConfig(f"the config has {len(text)} characters; at most {MAX_CONFIG_CHARS} are taken")
    _check_events(text)
    return _compose(text)


def check_size(value: object) -> None:
    """Refuse data that arrives as JSON and that no YAML text would be allowed to hold. Raises InvalidConfig."""
    count, todo = 0, [value]
    while todo:
        item = todo.pop()
        count += 2 * len(item) if isinstance(item, dict) else len(item) if isinstance(item, list) else 0
        if count > MAX_NODES:
            raise InvalidConfig(_TOO_MANY)
        todo += item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()


def dump_yaml(value: object, *, sort_keys: bool = False) -> str:
    """Block-style YAML in the given key order, as a person would write it; `parse_yaml` reads the same data back."""
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=sort_keys, default_flow_style=False, allow_unicode=True))


class _Loader(_BaseLoader):  # type: ignore[misc]  # chosen at run time: libyaml's where it is built in
    """YAML 1.1 scalars as Go reads them: no dates, no base-60 numbers, exponents without a dot are numbers."""

    yaml_implicit_resolvers: dict[Any, list[Any]] = {}  # filled below; the parent's table must stay untouched

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        self._refuse_duplicates(node)
        self.flatten_mapping(node)
        return {
            self._key(key_node): self.construct_object(value_node, deep=deep) for key_node, value_node in node.value
        }

    def _refuse_duplicates(self, node: yaml.MappingNode) -> None:
        seen: set[str] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self._key(key_node)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key `{key}` is given twice", key_node.start_mark)
            seen.add(key)

    def _key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(None, None, "a key must be a scalar", node.start_mark)
        return str(node.value)


class _Dumper(yaml.SafeDumper):
    """Puts quotes around what the loader, or any other reader, would take for a number: the text `12e45`."""


def _resolvers() -> dict[Any, list[Any]]:
    # `=` alone is a type of its own that nothing constructs; people mean the character.
    dropped = {f"tag:yaml.org,2002:{kind}" for kind in ("timestamp", "int", "float", "value")}
    return {
        first: [(tag, pattern) for tag, pattern in entries if tag not in dropped]
        for first, entries in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _add_numbers() -> None:
    import re

    floats = r"^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?$"
    exponents = r"^[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+$"
    specials = r"^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    integers = r"^[-+]?(?:0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$"
    numbers = re.compile(f"{floats}|{exponents}|{specials}")
    kinds: tuple[Any, ...] = (_Loader, _Dumper)
    for kind in kinds:
        kind.add_implicit_resolver("tag:yaml.org,2002:float", numbers, list("-+0123456789."))
        kind.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(integers), list("-+0123456789"))


_Loader.yaml_implicit_resolvers = _resolvers()
_add_numbers()


def _check_events(text: str) -> None:
    """Look at depth and size before a tree is built.

    libyaml's composer recurses on the C stack: without this scan, 100 KB of brackets would end the process. And a
    tree takes a hundred times the memory of its text.
    """
    depth = count = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.NodeEvent):
            count += 1
            depth += isinstance(event, yaml.CollectionStartEvent)
        if depth > MAX_DEPTH:
            line = event.start_mark.line + 1
            raise InvalidConfig(f"the config is nested deeper than {MAX_DEPTH} levels at line {line}")
        if count > MAX_NODES:
            raise InvalidConfig(f"{_TOO_MANY} (reached at line {event.start_mark.line + 1})")


def _compose(text: str) -> yaml.Node | None:
    loader = _Loader(text)
    try:
        node: yaml.Node | None = loader.get_single_node()
        return node
    finally:
        loader.dispose()


def _expanded_size(node: yaml.Node, sizes: dict[int, int], open_nodes: set[int]) -> int:
    """Count the nodes the document has once aliases are written out; refuse bombs and aliases of themselves."""
    if id(node) in sizes:
        return sizes[id(node)]
    if id(node) in open_nodes:
        raise InvalidConfig("the config contains an alias that contains itself; write the value out")
    open_nodes.add(id(node))
    total = 1 + sum(_expanded_size(child, sizes, open_nodes) for child in _children(node))
    open_nodes.discard(id(node))
    if total > MAX_NODES:
        raise InvalidConfig(f"{_TOO_MANY} once its aliases are written out")
    sizes[id(node)] = total
    return total


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _construct(node: yaml.Node) -> JsonValue:
    loader = _Loader("")
    try:
        document: JsonValue = loader.construct_document(node)
        return document
    finally:
        loader.dispose()


def _located(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    if mark is None:
        return str(problem)
    return f"{problem} at line {mark.line + 1}, column {mark.column + 1}"
