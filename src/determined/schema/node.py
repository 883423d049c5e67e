"""The nodes of a schema: each checks, completes, loads and describes one kind of value.

check: report violations. canonical: drop nulls, which mean "unset", and write short forms out. merge: lay a high layer
over a low one. fill: write defaults. load: make the typed value of checked data. Nodes never change what they are
given, and leave data of a wrong shape as it is for `check` to report.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Generic, TypeAlias, TypeVar

from determined._json import JsonObject, JsonValue

T_co = TypeVar("T_co", covariant=True)
E = TypeVar("E", bound=StrEnum)


class Report:
    """Collects violations. `complete` also demands the fields that must be there in the end."""

    def __init__(self, *, complete: bool) -> None:
        self.complete = complete
        self.violations: list[str] = []

    def add(self, at: str, reason: str) -> None:
        self.violations.append(f"{at}: {reason}")


class Node(Generic[T_co]):
    """Anything at all: no check, the high layer wins. The type parameter is what `load` answers."""

    kind = "anything"  # the word of the reference page
    shown = False  # whether a typed config prints the value: what users put here may hold secrets

    def check(self, value: object, at: str, report: Report) -> None:
        return None

    def canonical(self, value: JsonValue) -> JsonValue:
        return value

    def merge(self, high: JsonValue, low: JsonValue) -> JsonValue:
        return low if high is None else high

    def fill(self, value: JsonValue) -> JsonValue:
        return value

    def load(self, value: Any) -> T_co:
        """Return the typed value of data that was checked before."""
        loaded: T_co = value
        return loaded

    def json_schema(self) -> JsonObject:
        """Return the JSON schema of what users may write here."""
        return {}


Anything: TypeAlias = Node[Any]


class Text(Node[str]):
    """A string; `problem` answers what is wrong with one, or None."""

    shown = True

    def __init__(self, *, choices: tuple[str, ...] = (), problem: Callable[[str], str | None] | None = None) -> None:
        self.choices, self.problem = choices, problem
        self.kind = " or ".join(f"`{choice}`" for choice in choices) or "string"

    def check(self, value: object, at: str, report: Report) -> None:
        if not isinstance(value, str):
            return report.add(at, f"must be a string, not {kind_of(value)}")
        if self.choices and value not in self.choices:
            return report.add(at, f"must be one of {', '.join(self.choices)}, not `{value}`")
        reason = self.problem(value) if self.problem else None
        if reason:
            report.add(at, reason)

    def json_schema(self) -> JsonObject:
        return {"type": "string", **({"enum": list(self.choices)} if self.choices else {})}


class Choice(Node[E]):
    """Word of an enumeration."""

    shown = True

    def __init__(self, words: type[E]) -> None:
        self._words, self._text = words, Text(choices=tuple(words))
        self.kind = self._text.kind

    def check(self, value: object, at: str, report: Report) -> None:
        self._text.check(value, at, report)

    def load(self, value: Any) -> E:
        return self._words(value)

    def json_schema(self) -> JsonObject:
        return self._text.json_schema()


class Integer(Node[int]):
    """A whole number between `low` and `high`, both included."""

    shown = True

    def __init__(self, low: int | None = None, high: int | None = None) -> None:
        self.low, self.high = low, high
        self.kind = _range_words("integer", low, high)

    def check(self, value: object, at: str, report: Report) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            return report.add(at, f"must be an integer, not {kind_of(value)}")
        _check_range(value, self.low, self.high, at, report)

    def json_schema(self) -> JsonObject:
        return {"type": "integer", **_range_schema(self.low, self.high)}


class Number(Node[float]):
    """A number between `low` and `high`, or greater than `above`."""

    shown = True

    def __init__(self, low: float | None = None, high: float | None = None, above: float | None = None) -> None:
        self.low, self.high, self.above = low, high, above
        self.kind = _range_words("number", low, high) if above is None else f"number above {above}"

    def check(self, value: object, at: str, report: Report) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return report.add(at, f"must be a number, not {kind_of(value)}")
        if self.above is not None and not value > self.above:
            return report.add(at, f"must be greater than {self.above}, not {value}")
        _check_range(value, self.low, self.high, at, report)

    def json_schema(self) -> JsonObject:
        above = {} if self.above is None else {"exclusiveMinimum": self.above}
        return {"type": "number", **_range_schema(self.low, self.high), **above}


class Boolean(Node[bool]):
    kind, shown = "true or false", True

    def check(self, value: object, at: str, report: Report) -> None:
        if not isinstance(value, bool):
            report.add(at, f"must be true or false, not {kind_of(value)}")

    def json_schema(self) -> JsonObject:
        return {"type": "boolean"}


class MustBeNull(Node[None]):
    kind = "null"

    def check(self, value: object, at: str, report: Report) -> None:
        report.add(at, "must be null")

    def json_schema(self) -> JsonObject:
        return {"type": "null"}


def kind_of(value: object) -> str:
    """Name the kind of a value as JSON does, for messages."""
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "an integer", float: "a number", str: "a string", list: "a list"}
    return names.get(type(value), "a mapping" if isinstance(value, dict) else type(value).__name__)


def nullable(schema: JsonObject) -> JsonObject:
    """Let null, which means "unset", stand for a value."""
    if not schema or schema.get("type") == "null":
        return schema
    if isinstance(schema.get("type"), str) and "allOf" not in schema:
        enum = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
        return {**schema, "type": [schema["type"], "null"], **enum}
    return {"anyOf": [schema, {"type": "null"}]}


def _check_range(value: float, low: float | None, high: float | None, at: str, report: Report) -> None:
    if low is not None and value < low:
        report.add(at, f"must be at least {low}, not {value}")
    if high is not None and value > high:
        report.add(at, f"must be at most {high}, not {value}")


# Ends that only a database column or a protocol sets: nobody wants to read them in a table.
_TECHNICAL = (32767, 2**31 - 1, 2**32 - 1)


def _range_words(word: str, low: float | None, high: float | None) -> str:
    if low is not None and high is not None and high not in _TECHNICAL:
        return f"{word} {low} to {high}"
    return word if low is None else f"{word}, at least {low}"


def _range_schema(low: float | None, high: float | None) -> JsonObject:
    ends = {"minimum": low, "maximum": high}
    return {key: end for key, end in ends.items() if end is not None}
