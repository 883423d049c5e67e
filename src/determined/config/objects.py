"""Objects of the schema language: fixed keys (`Object`) and unions chosen by a tag (`Tagged`)."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from determined.config.node import Node, Report
from determined.config.text import kind_of

Rule = Callable[[dict[str, Any]], Iterable[tuple[str, str]]]
"""Looks across the fields of one object; yields (path below the object, reason)."""

UNSET: Any = object()
_REQUIRED = "is a required property"


@dataclass(frozen=True, slots=True)
class Field:
    """One key of an object. Without `default` the key stays absent; `required` means: must be there in the end."""

    node: Node
    default: Any = UNSET
    required: bool = False
    legacy: bool = False  # known so that its errors are good, never suggested
    honoured_by: tuple[str, ...] | None = None  # engines on which it has an effect; None: everywhere, (): nowhere


@dataclass(frozen=True, slots=True)
class Object(Node):
    """Fixed keys. `rules` look across fields and run only where the fields themselves are sound."""

    fields: dict[str, Field]
    rules: tuple[Rule, ...] = ()
    extra: bool = False  # unknown keys are the user's business
    complete_rules: tuple[Rule, ...] = ()

    def check(self, value: Any, at: str, report: Report) -> None:
        if not isinstance(value, dict):
            return report.add(at, f"must be a mapping, not {kind_of(value)}")
        before = len(report.violations)
        check_fields(self.fields, value, at, report)
        if not self.extra:
            _report_unknown(self.fields, value, at, report)
        if len(report.violations) == before:
            self.run_rules(value, at, report)
        elif _only_lacks_fields(report, before):
            self.run_rules(value, at, report, rules=())

    def run_rules(self, value: dict[str, Any], at: str, report: Report, rules: tuple[Rule, ...] | None = None) -> None:
        """Run `rules`, by default its own, and those of a complete config, which only ask what is there."""
        chosen = self.rules if rules is None else rules
        for rule in chosen + (self.complete_rules if report.complete else ()):
            for where, reason in rule(value):
                report.add(f"{at}.{where}" if where else at, reason)

    def strip(self, value: Any) -> Any:
        return strip_fields(self.fields, value)

    def merge(self, high: Any, low: Any) -> Any:
        return merge_fields(self.fields, high, low)

    def fill(self, value: Any) -> Any:
        return fill_fields(self.fields, value)


@dataclass(frozen=True, slots=True)
class Atomic(Object):
    """An object that merges as a whole."""

    def merge(self, high: Any, low: Any) -> Any:
        return low if high is None else high


@dataclass(frozen=True, slots=True)
class Tagged(Node):
    """A union chosen by the value of `tag`. Common fields always merge; the others only within one variant."""

    tag: str
    common: dict[str, Field]
    variants: dict[str, Object]
    summary: str

    def check(self, value: Any, at: str, report: Report) -> None:
        if not isinstance(value, dict):
            return report.add(at, self.summary)
        chosen = value.get(self.tag)
        if chosen is None:
            return self._check_untagged(value, at, report)
        if not isinstance(chosen, str) or chosen not in self.variants:
            return report.add(at, f"{self.summary} (got {chosen!r})")
        self._check_variant(chosen, value, at, report)

    def strip(self, value: Any) -> Any:
        return strip_fields(self.fields_of(value), value)

    def merge(self, high: Any, low: Any) -> Any:
        if not isinstance(high, dict) or not isinstance(low, dict):
            return low if high is None else high
        if high.get(self.tag) is not None and high.get(self.tag) != low.get(self.tag):
            low = {key: item for key, item in low.items() if key in self.common}
        return merge_fields(self.fields_of({**low, **high}), high, low)

    def fill(self, value: Any) -> Any:
        return fill_fields(self.fields_of(value), value)

    def _check_untagged(self, value: dict[str, Any], at: str, report: Report) -> None:
        # A template may hold a part of the union without saying which variant it is.
        if report.complete:
            return report.add(at, f"`{self.tag}` {_REQUIRED}")
        fields = self.fields_of(value)
        check_fields(fields, value, at, report)
        if not any(variant.extra for variant in self.variants.values()):
            _report_unknown(fields, value, at, report)

    def _check_variant(self, chosen: str, value: dict[str, Any], at: str, report: Report) -> None:
        variant = self.variants[chosen]
        before = len(report.violations)
        fields = {**self.common, **variant.fields}
        check_fields(fields, value, at, report)
        if not variant.extra:
            others = self.fields_of({})
            for key in value:
                if key not in fields and key in others:
                    report.add(at, f"additional property `{key}` not allowed with {self.tag} `{chosen}`")
            _report_unknown({**others, **fields}, value, at, report, suggest=fields)
        if len(report.violations) == before:
            variant.run_rules(value, at, report)
        elif _only_lacks_fields(report, before):
            variant.run_rules(value, at, report, rules=())

    def fields_of(self, value: Any) -> dict[str, Field]:
        chosen = value.get(self.tag) if isinstance(value, dict) else None
        if isinstance(chosen, str) and chosen in self.variants:
            return {**self.common, **self.variants[chosen].fields}
        merged: dict[str, Field] = {}
        for variant in self.variants.values():
            merged = {**variant.fields, **merged}
        # Which defaults apply is not known without the tag.
        return {**{key: Field(known.node) for key, known in merged.items()}, **self.common}


def check_fields(fields: dict[str, Field], value: dict[str, Any], at: str, report: Report) -> None:
    for key, known in fields.items():
        if value.get(key) is not None:
            known.node.check(value[key], f"{at}.{key}", report)
        elif known.required and report.complete:
            report.add(at, f"`{key}` {_REQUIRED}")


def _only_lacks_fields(report: Report, before: int) -> bool:
    """Whether all that was reported since is missing: what else is missing can be said in the same go."""
    return all(violation.endswith(_REQUIRED) for violation in report.violations[before:])


def _report_unknown(
    fields: dict[str, Field],
    value: dict[str, Any],
    at: str,
    report: Report,
    suggest: dict[str, Field] | None = None,
) -> None:
    for key in value:
        if key not in fields:
            report.add(at, unknown_property(key, suggest or fields))


def unknown_property(key: str, fields: dict[str, Field]) -> str:
    reason = f"additional property `{key}` not allowed"
    if homes := [f"`{name}`" for name, known in fields.items() if not known.legacy and _has_field(known.node, key)]:
        return f"{reason}; it belongs under {' or '.join(homes)}"
    near = get_close_matches(str(key), [name for name, known in fields.items() if not known.legacy], n=1)
    return f"{reason}; did you mean `{near[0]}`?" if near else reason


def _has_field(node: Node, key: str) -> bool:
    """Whether `key` is a field of the objects that this node takes."""
    if isinstance(node, Object):
        return key in node.fields
    return isinstance(node, Tagged) and key in node.fields_of({})


def strip_fields(fields: dict[str, Field], value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {
        key: fields[key].node.strip(item) if key in fields else item for key, item in value.items() if item is not None
    }


def merge_fields(fields: dict[str, Field], high: Any, low: Any) -> Any:
    if not isinstance(high, dict) or not isinstance(low, dict):
        return low if high is None else high
    merged = dict(low)
    for key, item in high.items():
        node = fields[key].node if key in fields else Node()
        merged[key] = node.merge(item, low.get(key))
    return merged


def fill_fields(fields: dict[str, Field], value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    filled: dict[str, Any] = {}
    for key, known in fields.items():
        item = value.get(key)
        if item is None and known.default is not UNSET:
            item = deepcopy(known.default)
        if item is not None or known.default is not UNSET:
            filled[key] = known.node.fill(item)
    return {**filled, **{key: item for key, item in value.items() if key not in filled}}
