"""Objects of a schema: fixed keys (`Object`) and unions chosen by a tag (`Tagged`)."""

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypeVar

from determined._json import JsonObject, JsonValue
from determined.schema.lists import node_of
from determined.schema.node import Node, Report, kind_of, nullable

T_co = TypeVar("T_co", covariant=True)

Rule = Callable[[JsonObject], Iterable[tuple[str, str]]]
"""Looks across the fields of one object; yields (path below the object, reason)."""

UNSET: Any = object()
_REQUIRED = "is a required property"


@dataclass(frozen=True, slots=True)
class Field:
    """Key of an object. `required` means: must be there in the end."""

    node: Node[object]
    meaning: str = ""  # the sentence of the reference page and of editors
    default: Any = UNSET  # as a user would write it
    fill: bool = True  # whether the default is written into a config that does not have the key
    required: bool = False
    legacy: bool = False  # known so that its errors are good, never suggested or described
    engines: tuple[str, ...] | None = None  # kinds or traits; None: effect everywhere, (): nowhere
    since: str = ""  # the release that brought it
    secret: bool = False  # masked wherever a config is shown

    def load(self, value: Any) -> Any:
        """Return the typed value of checked data; the default where there is none."""
        if value is None:
            if self.default is UNSET or self.default is None:
                return None
            value = deepcopy(self.default)
        return self.node.load(value)


class Object(Node[T_co]):
    """Fixed keys. `rules` look across fields and run only where the fields themselves are sound.

    Args:
        loads: The class of the typed value.
        extra: Unknown keys are the user's business.
        complete_rules: Run on the whole config only, and also where fields are missing.
    """

    kind, shown = "section", True

    def __init__(
        self,
        fields: dict[str, Field],
        loads: type[T_co],
        *,
        rules: tuple[Rule, ...] = (),
        complete_rules: tuple[Rule, ...] = (),
        extra: bool = False,
    ) -> None:
        self.fields, self.loads = fields, loads
        self.rules, self.complete_rules, self.extra = rules, complete_rules, extra

    def check(self, value: object, at: str, report: Report) -> None:
        if not isinstance(value, dict):
            return report.add(at, f"must be a mapping, not {kind_of(value)}")
        before = len(report.violations)
        check_fields(self.fields, value, at, report)
        if not self.extra:
            _report_unknown(self.fields, value, at, report)
        self.run_rules(value, at, report, before)

    def run_rules(self, value: JsonObject, at: str, report: Report, before: int) -> None:
        """Run the rules, if all that was reported since `before` is what is missing: only `complete_rules` then."""
        if not all(violation.endswith(_REQUIRED) for violation in report.violations[before:]):
            return
        chosen = self.rules if len(report.violations) == before else ()
        for rule in chosen + (self.complete_rules if report.complete else ()):
            for where, reason in rule(value):
                report.add(f"{at}.{where}" if where else at, reason)

    def canonical(self, value: JsonValue) -> JsonValue:
        return canonical_fields(self.fields, value)

    def merge(self, high: JsonValue, low: JsonValue) -> JsonValue:
        return merge_fields(self.fields, high, low)

    def fill(self, value: JsonValue) -> JsonValue:
        return fill_fields(self.fields, value)

    def load(self, value: Any) -> T_co:
        """Fields are loaded when they are read first: whoever needs one of a stored config pays for one."""
        made = self.loads.__new__(self.loads)
        vars(made)["raw"] = value
        return made

    def json_schema(self) -> JsonObject:
        return object_schema(self.fields, extra=self.extra)


class Atomic(Object[T_co]):
    """An object that merges as a whole."""

    def merge(self, high: JsonValue, low: JsonValue) -> JsonValue:
        return low if high is None else high


class Tagged(Node[T_co]):
    """A union chosen by the value of `tag`. Common fields always merge; the others only within one variant.

    Args:
        base: The section with the common fields, of which the variants are subclasses.
        variants: Sections by tag.
    """

    kind, shown = "section", True

    def __init__(self, base: type[T_co], *, tag: str, variants: Mapping[str, type[T_co]]) -> None:
        self.tag = tag
        self.common = _object(base).fields
        self.variants = {name: _object(variant) for name, variant in variants.items()}
        self.summary = f"not an object whose `{tag}` is one of {', '.join(variants)}"

    def check(self, value: object, at: str, report: Report) -> None:
        if not isinstance(value, dict):
            return report.add(at, self.summary)
        chosen = value.get(self.tag)
        if chosen is None:
            return self._check_untagged(value, at, report)
        if not isinstance(chosen, str) or chosen not in self.variants:
            return report.add(at, f"{self.summary} (got {chosen!r}){_did_you_mean(chosen, self.variants)}")
        self._check_variant(chosen, value, at, report)

    def canonical(self, value: JsonValue) -> JsonValue:
        return canonical_fields(self.fields_of(value), value)

    def merge(self, high: JsonValue, low: JsonValue) -> JsonValue:
        if not isinstance(high, dict) or not isinstance(low, dict):
            return low if high is None else high
        if high.get(self.tag) is not None and high.get(self.tag) != low.get(self.tag):
            low = {key: item for key, item in low.items() if key in self.common}
        return merge_fields(self.fields_of({**low, **high}), high, low)

    def fill(self, value: JsonValue) -> JsonValue:
        return fill_fields(self.fields_of(value), value)

    def load(self, value: Any) -> T_co:
        return self.variants[value[self.tag]].load(value)

    def fields_of(self, value: object) -> dict[str, Field]:
        """Return the fields of the variant that the value names; without a name those of all, without defaults."""
        chosen = value.get(self.tag) if isinstance(value, dict) else None
        if isinstance(chosen, str) and chosen in self.variants:
            return self.variants[chosen].fields
        merged: dict[str, Field] = {}
        for variant in self.variants.values():
            merged = {**variant.fields, **merged}
        return {**self.common, **{key: Field(field.node) for key, field in merged.items() if key not in self.common}}

    def own_fields(self, name: str) -> dict[str, Field]:
        """Return the fields that a variant has beyond the common ones."""
        return {key: field for key, field in self.variants[name].fields.items() if self.common.get(key) is not field}

    def json_schema(self) -> JsonObject:
        whole = object_schema(self.fields_of({}), extra=True)
        whole.pop("required", None)  # a template may leave the tag to others
        whole["properties"][self.tag] = {"enum": [*self.variants, None], "description": self.common[self.tag].meaning}
        whole["allOf"] = [
            {
                "if": {"properties": {self.tag: {"const": name}}, "required": [self.tag]},
                "then": object_schema(variant.fields, extra=variant.extra),
            }
            for name, variant in self.variants.items()
        ]
        return whole

    def _check_untagged(self, value: JsonObject, at: str, report: Report) -> None:
        # A template may hold a part of the union without saying which variant it is.
        if report.complete:
            return report.add(at, f"`{self.tag}` {_REQUIRED}")
        fields = self.fields_of(value)
        check_fields(fields, value, at, report)
        if not any(variant.extra for variant in self.variants.values()):
            _report_unknown(fields, value, at, report)

    def _check_variant(self, chosen: str, value: JsonObject, at: str, report: Report) -> None:
        variant = self.variants[chosen]
        before = len(report.violations)
        check_fields(variant.fields, value, at, report)
        if not variant.extra:
            others = self.fields_of({})
            for key in value:
                if key not in variant.fields and key in others:
                    report.add(at, f"additional property `{key}` not allowed with {self.tag} `{chosen}`")
            _report_unknown({**others, **variant.fields}, value, at, report, suggest=variant.fields)
        variant.run_rules(value, at, report, before)


def check_fields(fields: dict[str, Field], value: JsonObject, at: str, report: Report) -> None:
    for key, field in fields.items():
        if value.get(key) is not None:
            field.node.check(value[key], f"{at}.{key}", report)
        elif field.required and report.complete:
            report.add(at, f"`{key}` {_REQUIRED}")


def canonical_fields(fields: dict[str, Field], value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        return value
    return {
        key: fields[key].node.canonical(item) if key in fields else item
        for key, item in value.items()
        if item is not None
    }


def merge_fields(fields: dict[str, Field], high: JsonValue, low: JsonValue) -> JsonValue:
    if not isinstance(high, dict) or not isinstance(low, dict):
        return low if high is None else high
    merged = dict(low)
    for key, item in high.items():
        node = fields[key].node if key in fields else _ANYTHING
        merged[key] = node.merge(item, low.get(key))
    return merged


def fill_fields(fields: dict[str, Field], value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        return value
    filled: JsonObject = {}
    for key, field in fields.items():
        item = value.get(key)
        has_default = field.fill and field.default is not UNSET
        if item is None and has_default:
            item = deepcopy(field.default)
        if item is not None or has_default:
            filled[key] = field.node.fill(item)
    return {**filled, **{key: item for key, item in value.items() if key not in filled}}


def object_schema(fields: dict[str, Field], *, extra: bool) -> JsonObject:
    """Return the JSON schema of an object; null means "unset" everywhere, and old keys are accepted silently."""
    required = [key for key, field in fields.items() if field.required]
    return {
        "type": "object",
        "properties": {key: _property(field) for key, field in fields.items()},
        **({} if extra else {"additionalProperties": False}),
        **({"required": required} if required else {}),
    }


def _property(field: Field) -> JsonObject:
    known = nullable(field.node.json_schema())
    if field.meaning:
        known["description"] = field.meaning
    if field.default is not UNSET and field.default is not None:
        known["default"] = field.default
    if field.legacy:
        known["deprecated"] = True
    return known


def _report_unknown(
    fields: dict[str, Field],
    value: JsonObject,
    at: str,
    report: Report,
    suggest: dict[str, Field] | None = None,
) -> None:
    for key in value:
        if key not in fields:
            report.add(at, unknown_property(key, suggest or fields))


def unknown_property(key: str, fields: dict[str, Field]) -> str:
    reason = f"additional property `{key}` not allowed"
    if homes := [f"`{name}`" for name, field in fields.items() if not field.legacy and _has_field(field.node, key)]:
        return f"{reason}; it belongs under {' or '.join(homes)}"
    return reason + _did_you_mean(key, [name for name, field in fields.items() if not field.legacy])


def _did_you_mean(word: object, names: Iterable[str]) -> str:
    from difflib import get_close_matches  # most configs are sound

    near = get_close_matches(word, list(names), n=1) if isinstance(word, str) else []
    return f"; did you mean `{near[0]}`?" if near else ""


def _has_field(node: Node[object], key: str) -> bool:
    """Return whether `key` is a field of the objects that this node takes."""
    if isinstance(node, Object):
        return key in node.fields
    return isinstance(node, Tagged) and key in node.fields_of({})


def _object(section: type[T_co]) -> Object[T_co]:
    node = node_of(section)
    assert isinstance(node, Object)  # every section's is
    return node


_ANYTHING: Node[Any] = Node()
