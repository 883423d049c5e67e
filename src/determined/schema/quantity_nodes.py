"""Nodes of sizes, durations and training lengths."""

from typing import Any

from determined._json import JsonObject, JsonValue
from determined.errors import InvalidArgument
from determined.schema.node import Node, Report
from determined.schema.quantities import Length, Unit, length_problem, parse_duration, parse_size


class Size(Node[int]):
    """A number of bytes, or text such as `4g`; canonical as bytes."""

    kind, shown = "size", True

    def check(self, value: object, at: str, report: Report) -> None:
        if isinstance(value, bool) or not isinstance(value, int | str):
            return report.add(at, "must be a number of bytes or a size such as 4g")
        try:
            parse_size(value)
        except InvalidArgument as error:
            report.add(at, error.message)

    def canonical(self, value: JsonValue) -> JsonValue:
        try:
            return parse_size(value) if isinstance(value, str) else value
        except InvalidArgument:
            return value

    def load(self, value: Any) -> int:
        return parse_size(value)

    def json_schema(self) -> JsonObject:
        return {"type": ["integer", "string"], "minimum": 0}


class Duration(Node[float]):
    """A Go duration such as `25s`, or a number of seconds; loaded as seconds."""

    kind, shown = "duration", True

    def __init__(self, *, bare_numbers: bool = True) -> None:
        self._bare_numbers = bare_numbers

    def check(self, value: object, at: str, report: Report) -> None:
        if self._bare_numbers and isinstance(value, int | float) and not isinstance(value, bool):
            return None if value >= 0 else report.add(at, f"must be at least 0, not {value}")
        try:
            seconds = parse_duration(value)  # type: ignore[arg-type]  # which it reports
        except InvalidArgument as error:
            return report.add(at, error.message)
        return (
            None if seconds >= 0 or not self._bare_numbers else report.add(at, f"must not be negative, not {value!r}")
        )

    def load(self, value: Any) -> float:
        return parse_duration(value) if isinstance(value, str) else float(value)

    def json_schema(self) -> JsonObject:
        return {"type": ["number", "string"], "minimum": 0} if self._bare_numbers else {"type": "string"}


class LengthNode(Node[Length]):
    """A length; see `quantities.Length`. It merges as a whole: half a length has no meaning."""

    kind, shown = "length", True

    def __init__(self, *, unitless: bool, low: int = 1) -> None:
        self._unitless, self._low = unitless, low

    def check(self, value: object, at: str, report: Report) -> None:
        problem = length_problem(value, unitless=self._unitless, low=self._low)
        if problem:
            report.add(at, problem)

    def load(self, value: Any) -> Length:
        return Length.parse(value)

    def json_schema(self) -> JsonObject:
        amount = {"type": "integer", "minimum": self._low}
        with_unit = {
            "type": "object",
            "properties": {unit.value: amount for unit in Unit},
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
        }
        return {"anyOf": [{"type": "integer", "minimum": 0}, with_unit]} if self._unitless else with_unit
