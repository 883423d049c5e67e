"""Hyperparameters: what counts as a constant, a group or a range; canonical form, checks, merging, the grid rule."""

import math
from collections.abc import Iterator

from determined._json import JsonObject, JsonValue
from determined.schema.lists import ListOf
from determined.schema.node import Integer, Node, Number, Report, Text, kind_of
from determined.schema.section import Section, field
from determined.search.sampling import is_group

MAX_HYPERPARAMETERS = 2000  # every trial has a value of each, and every table of trials shows them
TYPES = ("int", "double", "log", "const", "categorical")


def flatten(hparams: JsonObject, prefix: str = "") -> JsonObject:
    """Find leaves by their dotted display names (`optimizer.lr`)."""
    flat: JsonObject = {}
    for name, value in hparams.items():
        if is_group(value):
            flat.update(flatten(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def missing_counts(value: object, at: str) -> Iterator[tuple[str, str]]:
    """Find where grid search cannot know how many points a range has. Walks into lists and constants too."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from missing_counts(item, f"{at}[{index}]")
        return
    if not isinstance(value, dict):
        return
    if value.get("type") in ("int", "double", "log") and value.get("count") is None:
        yield at, "grid search is in use but `count` was not provided: add `count`, how many points to try"
    for name, item in value.items():
        if isinstance(item, dict | list):
            yield from missing_counts(item, at if name == "val" and value.get("type") == "const" else f"{at}.{name}")


def _ordered(value: JsonObject) -> Iterator[tuple[str, str]]:
    if value["minval"] >= value["maxval"]:
        yield "", f"minval must be less than maxval, not {value['minval']} >= {value['maxval']}"


def _finite_range(value: JsonObject) -> Iterator[tuple[str, str]]:
    if math.isinf(_float(value["maxval"]) - _float(value["minval"])):
        yield "", f"minval {value['minval']} and maxval {value['maxval']} lie too far apart for a number; narrow them"


def _real_base(value: JsonObject) -> Iterator[tuple[str, str]]:
    if value["base"] == 1:
        yield "base", "must not be 1, whose powers are all 1; 10 is usual"
    for end in ("minval", "maxval"):
        if not _has_power(value["base"], value[end]):
            yield end, f"{value['base']} to the power of {value[end]} is no number; minval and maxval are exponents"


def _float(number: float) -> float:
    """Convert a number; an integer beyond every float, which YAML has, is an infinity."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _has_power(base: float, exponent: float) -> bool:
    try:
        return math.isfinite(float(base) ** float(exponent))
    except OverflowError:
        return False


class Leaf(Section):
    """Hyperparameter."""

    type: str = field(Text(), "`const`, `int`, `double`, `log` or `categorical`.")


class IntRange(Leaf, rules=(_ordered,)):
    minval: int = field(Integer(), "The smallest value.")
    maxval: int = field(Integer(), "The largest value.")
    count: int | None = field(Integer(low=1), "Points of a grid.", default=None, fill=False)


class DoubleRange(Leaf, rules=(_ordered, _finite_range)):
    minval: float = field(Number(), "The smallest value.")
    maxval: float = field(Number(), "The largest value.")
    count: int | None = field(Integer(low=1), "Points of a grid.", default=None, fill=False)


class LogRange(Leaf, rules=(_ordered, _real_base)):
    minval: float = field(Number(), "The smallest exponent.")
    maxval: float = field(Number(), "The largest exponent.")
    base: float = field(Number(above=0), "What is raised to the power of the exponent; 10 is usual.")
    count: int | None = field(Integer(low=1), "Points of a grid.", default=None, fill=False)


class Categories(Leaf):
    vals: tuple[JsonValue, ...] = field(ListOf(Node[JsonValue](), nonempty=True), "The values to choose from.")


_LEAVES: dict[str, type[Leaf]] = {
    "int": IntRange,
    "double": DoubleRange,
    "log": LogRange,
    "categorical": Categories,
}


def _check_leaf(kind: str, value: JsonObject, at: str, report: Report) -> None:
    """Check a leaf, which must be whole wherever it stands: merging is atomic, so nothing can complete it later."""
    if kind in _LEAVES:
        inner = Report(complete=True)
        _LEAVES[kind].schema.check(value, at, inner)
        report.violations.extend(inner.violations)
        return
    if "val" not in value:
        report.add(at, "`val` is a required property")
    for key in sorted(set(value) - {"type", "val"}):
        report.add(at, f"additional property `{key}` not allowed")


class Hyperparameter(Node[JsonValue]):
    """Hyperparameter, or a group of them; canonical constants are `{type: const, val: ...}`."""

    def check(self, value: object, at: str, report: Report) -> None:
        if is_group(value):
            for name, item in value.items():
                self.check(item, f"{at}.{name}", report)
            return
        kind = value.get("type") if isinstance(value, dict) else "const"
        if not isinstance(kind, str) or kind not in TYPES:
            return report.add(at, f"type must be one of {', '.join(TYPES)}, not {kind!r}")
        if isinstance(value, dict):
            _check_leaf(kind, value, at, report)

    def canonical(self, value: JsonValue) -> JsonValue:
        """Return the canonical form. Nothing inside a list is ever sampled: a list is a constant."""
        if is_group(value):
            return {name: self.canonical(item) for name, item in value.items()}
        if not isinstance(value, dict):
            return {"type": "const", "val": value}
        if value.get("type") in ("int", "double", "log"):
            return {name: item for name, item in value.items() if item is not None}
        return value

    def merge(self, high: JsonValue, low: JsonValue) -> JsonValue:
        """Merge: a leaf replaces as a whole; groups merge name by name."""
        if not is_group(high) or not is_group(low):
            return high
        return {
            **low,
            **{name: self.merge(item, low[name]) if name in low else item for name, item in high.items()},
        }

    def json_schema(self) -> JsonObject:
        """Return the schema: a constant, a group or a range; which keys a range has is told by its type."""
        ranges = [
            {
                "if": {"type": "object", "properties": {"type": {"const": name}}, "required": ["type"]},
                "then": leaf.schema.json_schema(),
            }
            for name, leaf in _LEAVES.items()
        ]
        return {"properties": {"type": {"enum": list(TYPES)}}, "allOf": ranges}


_ONE = Hyperparameter()


class Hyperparameters(Node[JsonObject]):
    """The whole section: always a group, so `type` at its top is a name like any other map's key would be refused."""

    kind, shown = "mapping", True

    def check(self, value: object, at: str, report: Report) -> None:
        if not isinstance(value, dict):
            return report.add(at, f"must be a mapping, not {kind_of(value)}")
        count = len(flatten(value))
        if count > MAX_HYPERPARAMETERS:
            return report.add(at, f"has {count} hyperparameters; at most {MAX_HYPERPARAMETERS} are taken")
        for name, hparam in value.items():
            _ONE.check(hparam, f"{at}.{name}", report)

    def canonical(self, value: JsonValue) -> JsonValue:
        return {name: _ONE.canonical(hparam) for name, hparam in value.items()} if isinstance(value, dict) else value

    def merge(self, high: JsonValue, low: JsonValue) -> JsonValue:
        if not isinstance(high, dict) or not isinstance(low, dict):
            return low if high is None else high
        return {
            **low,
            **{name: _ONE.merge(hparam, low[name]) if name in low else hparam for name, hparam in high.items()},
        }

    def json_schema(self) -> JsonObject:
        return {"type": "object", "additionalProperties": _ONE.json_schema()}
