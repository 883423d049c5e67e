"""Hyperparameters: what counts as a constant, a group or a range; canonical form, checks, merging, the grid rule."""

import math
from collections.abc import Iterator
from typing import Any

from determined.config.node import Integer, ListOf, Node, Number, Report
from determined.config.objects import Field, Object, Rule
from determined.config.text import kind_of

MAX_HYPERPARAMETERS = 2000  # every trial has a value of each, and every table of trials shows them
TYPES = ("int", "double", "log", "const", "categorical")


def is_group(value: Any) -> bool:
    """A map without `type` nests more hyperparameters; everything else is a leaf."""
    return isinstance(value, dict) and "type" not in value


def canonical_hparam(value: Any) -> Any:
    """Constants as `{type: const, val: ...}`, groups recursively. Nothing inside a list is ever sampled."""
    if is_group(value):
        return {name: canonical_hparam(item) for name, item in value.items()}
    if isinstance(value, dict):
        return value
    return {"type": "const", "val": value}


def flatten(hparams: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Leaves by their dotted display names (`optimizer.lr`)."""
    flat: dict[str, Any] = {}
    for name, value in hparams.items():
        if is_group(value):
            flat.update(flatten(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def missing_counts(value: Any, at: str) -> Iterator[tuple[str, str]]:
    """Where grid search cannot know how many points a range has. Walks into lists and constants too."""
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


class Hyperparameter(Node):
    """One hyperparameter in canonical form, or a group of them."""

    def check(self, value: Any, at: str, report: Report) -> None:
        if is_group(value):
            for name, item in value.items():
                self.check(item, f"{at}.{name}", report)
            return
        kind = value.get("type") if isinstance(value, dict) else "const"
        if not isinstance(kind, str) or kind not in _LEAVES:
            return report.add(at, f"type must be one of {', '.join(TYPES)}, not {kind!r}")
        if isinstance(value, dict):
            _LEAVES[kind].check(value, at, report)

    def strip(self, value: Any) -> Any:
        if is_group(value):
            return {name: self.strip(item) for name, item in value.items()}
        if isinstance(value, dict) and value.get("type") in ("int", "double", "log"):
            return {name: item for name, item in value.items() if item is not None}
        return value

    def merge(self, high: Any, low: Any) -> Any:
        """A leaf replaces as a whole; groups merge name by name."""
        if not is_group(high) or not is_group(low):
            return high
        return {
            **low,
            **{name: self.merge(item, low[name]) if name in low else item for name, item in high.items()},
        }


class Hyperparameters(Hyperparameter):
    """The whole section: always a group, so `type` at its top is a name like any other map's key would be refused."""

    def check(self, value: Any, at: str, report: Report) -> None:
        if not isinstance(value, dict):
            return report.add(at, f"must be a mapping, not {kind_of(value)}")
        count = len(flatten(value))
        if count > MAX_HYPERPARAMETERS:
            return report.add(at, f"has {count} hyperparameters; at most {MAX_HYPERPARAMETERS} are taken")
        item = Hyperparameter()
        for name, hparam in value.items():
            item.check(hparam, f"{at}.{name}", report)

    def strip(self, value: Any) -> Any:
        item = Hyperparameter()
        return {name: item.strip(hparam) for name, hparam in value.items()} if isinstance(value, dict) else value

    def merge(self, high: Any, low: Any) -> Any:
        if not isinstance(high, dict) or not isinstance(low, dict):
            return low if high is None else high
        item = Hyperparameter()
        return {
            **low,
            **{name: item.merge(hparam, low[name]) if name in low else hparam for name, hparam in high.items()},
        }


def _ordered(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if value["minval"] >= value["maxval"]:
        yield "", f"minval must be less than maxval, not {value['minval']} >= {value['maxval']}"


def _finite_range(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _ordered(value)
    if math.isinf(float(value["maxval"]) - float(value["minval"])):
        yield "", f"minval {value['minval']} and maxval {value['maxval']} lie too far apart for a number; narrow them"


def _real_base(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _ordered(value)
    if value["base"] == 1:
        yield "base", "must not be 1, whose powers are all 1; 10 is usual"
    for end in ("minval", "maxval"):
        if not _has_power(value["base"], value[end]):
            yield end, f"{value['base']} to the power of {value[end]} is no number; minval and maxval are exponents"


def _has_power(base: float, exponent: float) -> bool:
    try:
        return math.isfinite(float(base) ** float(exponent))
    except OverflowError:
        return False


def _leaf(**fields: Field) -> Object:
    return Object({"type": Field(Node()), **fields})


def _range(bound: Node, rule: Rule = _ordered, **more: Field) -> Object:
    return Object(
        {
            "type": Field(Node()),
            "minval": Field(bound, required=True),
            "maxval": Field(bound, required=True),
            "count": Field(Integer(low=1)),
            **more,
        },
        rules=(rule,),
    )


class _Leaf(Node):
    """A leaf must be whole wherever it stands: merging is atomic, so nothing can complete it later."""

    def __init__(self, shape: Object) -> None:
        self._shape = shape

    def check(self, value: Any, at: str, report: Report) -> None:
        inner = Report(complete=True)
        self._shape.check(value, at, inner)
        report.violations.extend(inner.violations)


class _Const(Node):
    def check(self, value: Any, at: str, report: Report) -> None:
        if "val" not in value:
            report.add(at, "`val` is a required property")
        for key in sorted(set(value) - {"type", "val"}):
            report.add(at, f"additional property `{key}` not allowed")


_LEAVES: dict[str, Node] = {
    "const": _Const(),
    "int": _Leaf(_range(Integer())),
    "double": _Leaf(_range(Number(), _finite_range)),
    "log": _Leaf(_range(Number(), _real_base, base=Field(Number(above=0), required=True))),
    "categorical": _Leaf(_leaf(vals=Field(ListOf(Node(), nonempty=True), required=True))),
}
