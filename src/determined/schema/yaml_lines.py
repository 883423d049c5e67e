"""Lines of a YAML text on which each value of a config stands, so that an error can be shown beside its line."""

from collections.abc import Iterator

import yaml

from determined.errors import InvalidConfig
from determined.schema.text import compose_yaml

MERGE = "tag:yaml.org,2002:merge"


def lines_of(text: str) -> dict[str, int]:
    """Map each path (`searcher.metric`, `bind_mounts[0].host_path`) to the line of its key or list entry, from 1.

    Of text that is not YAML nothing is known.
    """
    try:
        node = compose_yaml(text)
    except (yaml.YAMLError, InvalidConfig, ValueError, UnicodeEncodeError, RecursionError):
        return {}
    lines: dict[str, int] = {}
    if node is not None:
        for path, line in _walk(node, "", set()):
            lines.setdefault(path, line)
    return lines


def line_of(lines: dict[str, int], path: str) -> int | None:
    """Return the line of that value, or of the nearest thing around it; None where all of it is missing."""
    while path:
        if path in lines:
            return lines[path]
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return None


def _walk(node: yaml.Node, at: str, seen: set[int]) -> Iterator[tuple[str, int]]:
    """Yield each node once: an alias stands where its anchor does, and a bomb of aliases costs nothing."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield f"{at}[{index}]", item.start_mark.line + 1
            yield from _walk(item, f"{at}[{index}]", seen)
    elif isinstance(node, yaml.MappingNode):
        yield from _walk_mapping(node, at, seen)


def _walk_mapping(node: yaml.MappingNode, at: str, seen: set[int]) -> Iterator[tuple[str, int]]:
    merged = [value for key, value in node.value if key.tag == MERGE]
    for key, value in node.value:
        if key.tag == MERGE or not isinstance(key, yaml.ScalarNode):
            continue
        path = f"{at}.{key.value}" if at else str(key.value)
        yield path, key.start_mark.line + 1
        yield from _walk(value, path, seen)
    for value in merged:
        for one in value.value if isinstance(value, yaml.SequenceNode) else [value]:
            yield from _walk(one, at, seen)
