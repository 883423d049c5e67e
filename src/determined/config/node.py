"""The schema language: a config is described once, as a tree of nodes that check, strip, merge and fill plain data.

check: report violations. strip: drop nulls, which mean "unset". merge: lay a high layer over a low one. fill: write
defaults. Nodes never change what they are given, and leave data of a wrong shape as it is for `check` to report.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from determined.config.text import kind_of


class Report:
    """Collects violations. `complete` also demands the fields that must be there in the end."""

    def __init__(self, *, complete: bool) -> None:
        self.complete = complete
        self.violations: list[str] = []

    def add(self, at: str, reason: str) -> None:
        self.violations.append(f"{at}: {reason}")


class Node:
    """Anything at all: no check, the high layer wins."""

    def check(self, value: Any, at: str, report: Report) -> None:
        return None

    def strip(self, value: Any) -> Any:
        return value

    def merge(self, high: Any, low: Any) -> Any:
        return low if high is None else high

    def fill(self, value: Any) -> Any:
        return value


@dataclass(frozen=True, slots=True)
class Text(Node):
    """A string; `problem` answers what is wrong with one, or None."""

    choices: tuple[str, ...] = ()
    problem: Callable[[str], str | None] | None = None

    def check(self, value: Any, at: str, report: Report) -> None:
        if not isinstance(value, str):
            return report.add(at, f"must be a string, not {kind_of(value)}")
        if self.choices and value not in self.choices:
            return report.add(at, f"must be one of {', '.join(self.choices)}, not `{value}`")
        reason = self.problem(value) if self.problem else None
        if reason:
            report.add(at, reason)


@dataclass(frozen=True, slots=True)
class Integer(Node):
    low: int | None = None
    high: int | None = None

    def check(self, value: Any, at: str, report: Report) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            return report.add(at, f"must be an integer, not {kind_of(value)}")
        _check_range(value, self.low, self.high, at, report)


@dataclass(frozen=True, slots=True)
class Number(Node):
    low: float | None = None
    high: float | None = None
    above: float | None = None

    def check(self, value: Any, at: str, report: Report) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return report.add(at, f"must be a number, not {kind_of(value)}")
        if self.above is not None and not value > self.above:
            return report.add(at, f"must be greater than {self.above}, not {value}")
        _check_range(value, self.low, self.high, at, report)


class Boolean(Node):
    def check(self, value: Any, at: str, report: Report) -> None:
        if not isinstance(value, bool):
            report.add(at, f"must be true or false, not {kind_of(value)}")


class MustBeNull(Node):
    def check(self, value: Any, at: str, report: Report) -> None:
        report.add(at, "must be null")


class FreeMap(Node):
    """User data: any mapping; maps merge key by key at every depth, anything else is taken from the high layer."""

    def check(self, value: Any, at: str, report: Report) -> None:
        if not isinstance(value, dict):
            report.add(at, f"must be a mapping, not {kind_of(value)}")

    def merge(self, high: Any, low: Any) -> Any:
        return merge_free(high, low)


def merge_free(high: Any, low: Any) -> Any:
    if not isinstance(high, dict) or not isinstance(low, dict):
        return low if high is None else high
    return {**low, **{key: merge_free(value, low.get(key)) for key, value in high.items()}}


@dataclass(frozen=True, slots=True)
class ListOf(Node):
    """A plain list: the high layer replaces the low one entirely."""

    item: Node
    nonempty: bool = False

    def check(self, value: Any, at: str, report: Report) -> None:
        if not isinstance(value, list):
            return report.add(at, f"must be a list, not {kind_of(value)}")
        if self.nonempty and not value:
            return report.add(at, "must not be empty: give at least one value")
        for index, item in enumerate(value):
            self.item.check(item, f"{at}[{index}]", report)

    def strip(self, value: Any) -> Any:
        return [self.item.strip(item) for item in value] if isinstance(value, list) else value

    def fill(self, value: Any) -> Any:
        return [self.item.fill(item) for item in value] if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class KeyedList(ListOf):
    """High entries, then the low entries whose key the high layer does not have. No dedupe inside one layer."""

    key: str = ""

    def merge(self, high: Any, low: Any) -> Any:
        if not isinstance(high, list) or not isinstance(low, list):
            return low if high is None else high
        taken = [_get(entry, self.key) for entry in high]
        return high + [entry for entry in low if _get(entry, self.key) not in taken]


@dataclass(frozen=True, slots=True)
class AddedList(ListOf):
    """Low entries, then high ones, duplicates kept: in a process environment the last one wins."""

    def merge(self, high: Any, low: Any) -> Any:
        if not isinstance(high, list) or not isinstance(low, list):
            return low if high is None else high
        return low + high


@dataclass(frozen=True, slots=True)
class SetList(ListOf):
    """A set written as a list: union, high first."""

    def merge(self, high: Any, low: Any) -> Any:
        if not isinstance(high, list) or not isinstance(low, list):
            return low if high is None else high
        return high + [entry for entry in low if entry not in high]


@dataclass(frozen=True, slots=True)
class MapOf(Node):
    """Names to values of one kind; key union, common keys merge."""

    item: Node

    def check(self, value: Any, at: str, report: Report) -> None:
        if not isinstance(value, dict):
            return report.add(at, f"must be a mapping, not {kind_of(value)}")
        for key, item in value.items():
            self.item.check(item, f"{at}.{key}", report)

    def strip(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: self.item.strip(item) for key, item in value.items() if item is not None}

    def merge(self, high: Any, low: Any) -> Any:
        if not isinstance(high, dict) or not isinstance(low, dict):
            return low if high is None else high
        return {**low, **{key: self.item.merge(item, low.get(key)) for key, item in high.items()}}


def _check_range(value: float, low: float | None, high: float | None, at: str, report: Report) -> None:
    if low is not None and value < low:
        report.add(at, f"must be at least {low}, not {value}")
    if high is not None and value > high:
        report.add(at, f"must be at most {high}, not {value}")


def _get(entry: Any, key: str) -> Any:
    return entry.get(key) if isinstance(entry, dict) else entry
