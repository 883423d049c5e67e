"""Sections: a class whose fields are declared once, each with its kind, meaning and default.

    class Resources(Section):
        slots_per_trial: int = field(Integer(0), "GPUs of each trial; 0 is a task without slots.", default=1)

From it follow checks, merging, defaults, the typed value (`Resources.load`), the reference page and the JSON schema.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, dataclass_transform, overload

from determined._json import JsonObject
from determined.errors import InvalidConfig
from determined.schema.lists import node_of
from determined.schema.node import Node, Report
from determined.schema.objects import UNSET, Field, Object, Rule

T = TypeVar("T")
S = TypeVar("S", bound="Section")


@overload
def field(
    kind: Node[T] | type[T], meaning: str, *, default: None, fill: bool = ..., legacy: bool = ...,
    engines: tuple[str, ...] | None = ..., since: str = ..., secret: bool = ...,
) -> T | None: ...  # fmt: skip
@overload
def field(
    kind: Node[T] | type[T], meaning: str, *, default: object = ..., fill: bool = ..., required: bool | None = ...,
    legacy: bool = ..., engines: tuple[str, ...] | None = ..., since: str = ..., secret: bool = ...,
) -> T: ...  # fmt: skip
def field(
    kind: Node[T] | type[T],
    meaning: str,
    *,
    default: object = UNSET,
    fill: bool = True,
    required: bool | None = None,
    legacy: bool = False,
    engines: tuple[str, ...] | None = None,
    since: str = "",
    secret: bool = False,
) -> Any:
    """Declare a field of a section.

    Args:
        kind: The node of its values, or the class of a section.
        meaning: A sentence for the reference page and for editors.
        default: As a user would write it in JSON. A field without one is required.
        fill: False: the key stays absent from a config that does not have it; only the typed value has the default.
        required: False: the field may be absent although it has no default; something else sees to it.
        legacy: Accepted for old configs, never suggested or described.
        engines: The engines on which it has an effect, by kind or trait (schema/engine_traits.py); None: on all, or it
            is not for engines; (): nowhere.
        since: The release that brought it.
        secret: Masked wherever a config is shown, and left out of its text.
    """
    needed = default is UNSET if required is None else required
    return Field(node_of(kind), meaning, default, fill, needed, legacy, engines, since, secret)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
class Section:
    """A part of a config as immutable data. `raw` is what it was loaded from, secrets included; {} if made by hand.

    A subclass declares fields with `field`, adds them to those of its bases, and may say in its class statement:

    Args:
        rules, complete_rules, extra: As for `Object`.
        node: The kind of object, where its merging, checks or short forms are of its own.
        added: Keys that are declared elsewhere, such as those that engines bring, or that nothing reads.
    """

    schema: ClassVar[Object[Any]]
    if TYPE_CHECKING:
        raw: JsonObject

    def __init_subclass__(
        cls,
        *,
        rules: tuple[Rule, ...] = (),
        complete_rules: tuple[Rule, ...] = (),
        extra: bool = False,
        node: type[Object[Any]] = Object,
        added: Mapping[str, Field] | None = None,
    ) -> None:
        bases = [vars(base)["schema"] for base in reversed(cls.__mro__[1:]) if "schema" in vars(base)]
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
        for name in own:
            delattr(cls, name)
        inherited = {name: known for base in bases for name, known in base.fields.items()}
        cls.schema = node(
            {**inherited, **own, **(added or {})},
            cls,
            rules=_joined(base.rules for base in bases) + rules,
            complete_rules=_joined(base.complete_rules for base in bases) + complete_rules,
            extra=extra,
        )

    def __init__(self, **values: object) -> None:
        fields = self.schema.fields
        unknown = sorted(values.keys() - fields.keys())
        missing = [key for key, known in fields.items() if known.required and key not in values]
        if unknown or missing:
            raise TypeError(f"{type(self).__name__}: missing {missing}, unknown {unknown}")
        made = {key: values[key] if key in values else known.load(None) for key, known in fields.items()}
        vars(self).update(made, raw={})

    @classmethod
    def load(cls: type[S], raw: JsonObject) -> S:
        """Type data that was checked before; keys that it lacks have their defaults."""
        section: S = cls.schema.load(raw)
        return section

    @classmethod
    def canonical(cls, raw: JsonObject) -> JsonObject:
        """Drop nulls and write short forms out."""
        return cast(JsonObject, cls.schema.canonical(raw))

    @classmethod
    def merge(cls, high: JsonObject, low: JsonObject) -> JsonObject:
        """Lay one canonical layer over another."""
        return cast(JsonObject, cls.schema.merge(high, low))

    @classmethod
    def fill(cls, canonical: JsonObject) -> JsonObject:
        """Write the defaults."""
        return cast(JsonObject, cls.schema.fill(canonical))

    @classmethod
    def parse(cls: type[S], raw: JsonObject, headline: str) -> S:
        """Check data of which nothing may be missing, write its defaults and type it.

        Raises:
            InvalidConfig: with every violation.
        """
        canonical = cls.canonical(raw)
        report = Report(complete=True)
        cls.schema.check(canonical, "<config>", report)
        if report.violations:
            raise InvalidConfig(headline, report.violations)
        return cls.load(cls.fill(canonical))

    def replace(self: S, **changes: object) -> S:
        """Return a copy with other values; `raw` stays what it was."""
        made = type(self)(**{**self._values(), **changes})
        vars(made)["raw"] = self.raw
        return made

    def _values(self) -> dict[str, object]:
        return {key: getattr(self, key) for key in self.schema.fields}

    if not TYPE_CHECKING:  # mypy knows the declared fields

        def __getattr__(self, name: str) -> object:
            known, raw = type(self).schema.fields.get(name), vars(self).get("raw")
            if known is None or raw is None:
                raise AttributeError(f"{type(self).__name__} has no field {name!r}")
            value = vars(self)[name] = known.load(raw.get(name))
            return value

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be set: configs are immutable, use replace()")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Section) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), *self._values().values()))

    def __repr__(self) -> str:
        known = self.schema.fields
        shown = {key: value for key, value in self._values().items() if known[key].node.shown and not known[key].secret}
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in shown.items())})"


def _joined(rules: Iterable[tuple[Rule, ...]]) -> tuple[Rule, ...]:
    """Return the rules of all bases, each once: a base carries those of its own bases too."""
    return tuple(dict.fromkeys(rule for some in rules for rule in some))
