"""Lists and mappings of a schema; they differ in how two layers of them merge."""

from typing import Any, TypeVar

from determined._json import JsonObject, JsonValue
from determined.schema.node import Node, Report, kind_of, nullable

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class ListOf(Node[tuple[T_co, ...]]):
    """A plain list: the high layer replaces the low one entirely. An item is a node, or the class of a section."""

    shown = True

    def __init__(self, item: "Node[T_co] | type[T_co]", *, nonempty: bool = False) -> None:
        self.item: Node[T_co] = node_of(item)
        self.nonempty = nonempty
        self.kind = "list" if self.item.kind == "section" else f"list of {self.item.kind}"

    def check(self, value: object, at: str, report: Report) -> None:
        if not isinstance(value, list):
            return report.add(at, f"must be a list, not {kind_of(value)}")
        if self.nonempty and not value:
            return report.add(at, "must not be empty: give at least one value")
        for index, item in enumerate(value):
            self.item.check(item, f"{at}[{index}]", report)

    def canonical(self, value: JsonValue) -> JsonValue:
        return [self.item.canonical(item) for item in value] if isinstance(value, list) else value

    def merge(self, high: JsonValue, low: JsonValue) -> JsonValue:
        if not isinstance(high, list) or not isinstance(low, list):
            return low if high is None else high
        return self.merge_lists(high, low)

    def merge_lists(self, high: list[JsonValue], low: list[JsonValue]) -> list[JsonValue]:
        return high

    def fill(self, value: JsonValue) -> JsonValue:
        return [self.item.fill(item) for item in value] if isinstance(value, list) else value

    def load(self, value: Any) -> tuple[T_co, ...]:
        return tuple(self.item.load(item) for item in value)

    def json_schema(self) -> JsonObject:
        return {"type": "array", "items": self.item.json_schema(), **({"minItems": 1} if self.nonempty else {})}


class KeyedList(ListOf[T_co]):
    """High entries, then the low entries whose key the high layer does not have. No dedupe inside one layer."""

    def __init__(self, item: "Node[T_co] | type[T_co]", *, key: str) -> None:
        super().__init__(item)
        self.key = key

    def merge_lists(self, high: list[JsonValue], low: list[JsonValue]) -> list[JsonValue]:
        taken = [_get(entry, self.key) for entry in high]
        return high + [entry for entry in low if _get(entry, self.key) not in taken]


class AddedList(ListOf[T_co]):
    """Low entries, then high ones, duplicates kept: in a process environment the last one wins."""

    def merge_lists(self, high: list[JsonValue], low: list[JsonValue]) -> list[JsonValue]:
        return low + high


class SetList(ListOf[T_co]):
    """A set written as a list: union, high first."""

    def merge_lists(self, high: list[JsonValue], low: list[JsonValue]) -> list[JsonValue]:
        return high + [entry for entry in low if entry not in high]


class MapOf(Node[dict[str, T]]):
    """Names to values of one kind; key union, common keys merge."""

    shown = True

    def __init__(self, item: "Node[T] | type[T]") -> None:
        self.item: Node[T] = node_of(item)
        self.kind = f"names to {self.item.kind}"

    def check(self, value: object, at: str, report: Report) -> None:
        if not isinstance(value, dict):
            return report.add(at, f"must be a mapping, not {kind_of(value)}")
        for key, item in value.items():
            self.item.check(item, f"{at}.{key}", report)

    def canonical(self, value: JsonValue) -> JsonValue:
        if not isinstance(value, dict):
            return value
        return {key: self.item.canonical(item) for key, item in value.items() if item is not None}

    def merge(self, high: JsonValue, low: JsonValue) -> JsonValue:
        if not isinstance(high, dict) or not isinstance(low, dict):
            return low if high is None else high
        return {**low, **{key: self.item.merge(item, low.get(key)) for key, item in high.items()}}

    def load(self, value: Any) -> dict[str, T]:
        return {key: self.item.load(item) for key, item in value.items()}

    def json_schema(self) -> JsonObject:
        return {"type": "object", "additionalProperties": nullable(self.item.json_schema())}


class FreeMap(Node[JsonObject]):
    """User data: any mapping; maps merge key by key at every depth, anything else is taken from the high layer."""

    kind = "mapping"

    def check(self, value: object, at: str, report: Report) -> None:
        if not isinstance(value, dict):
            report.add(at, f"must be a mapping, not {kind_of(value)}")

    def merge(self, high: JsonValue, low: JsonValue) -> JsonValue:
        return merge_free(high, low)

    def load(self, value: Any) -> JsonObject:
        return dict(value)

    def json_schema(self) -> JsonObject:
        return {"type": "object"}


def merge_free(high: JsonValue, low: JsonValue) -> JsonValue:
    if not isinstance(high, dict) or not isinstance(low, dict):
        return low if high is None else high
    return {**low, **{key: merge_free(value, low.get(key)) for key, value in high.items()}}


def node_of(kind: "Node[T] | type[T]") -> Node[T]:
    """Look up the node of a section's class; a node is its own."""
    if isinstance(kind, Node):
        return kind
    schema: Node[T] = kind.schema  # type: ignore[attr-defined]  # a Section: see section.py
    return schema


def _get(entry: JsonValue, key: str) -> JsonValue:
    return entry.get(key) if isinstance(entry, dict) else entry
