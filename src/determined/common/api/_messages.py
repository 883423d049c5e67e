"""Classes of messages and enums, made from wire types when somebody asks for them.

A message has a keyword-only constructor, `from_json` and `to_json(omit_unset)`. An optional field that was never
assigned reads as None and is left out by `to_json(True)`, so that PATCH tells "clear it" from "keep it".
"""

import itertools
import math
from collections.abc import Callable
from enum import Enum
from functools import cache
from inspect import Parameter, Signature
from typing import Any, ClassVar, NamedTuple, Self, get_args, get_origin

from determined.common.api._catalog import Field, bare, fields_of, is_enum, is_message, name_of

MODULE = "determined.common.api.bindings"


class Unset:
    """Type of the marker of a field that nobody assigned; None is a value."""

    def __repr__(self) -> str:
        return "unset"


UNSET = Unset()


class DetEnum(Enum):
    """Enum of the API. Members are named without the prefix that all values share; `str` gives that name."""

    def __str__(self) -> str:
        return str(self.value).removeprefix(self.prefix())

    @classmethod
    def prefix(cls) -> str:
        """Return what all values begin with, if that ends a word."""
        return _prefix([str(member.value) for member in cls])


class Printable:
    """Base of messages: shows plain fields by value and others by `...`."""

    def __str__(self) -> str:
        shown = (f"{name}={_shown(value)}" for name, value in vars(self).items() if value is not None)
        return f"{type(self).__name__}({', '.join(shown)})"


class Codec(NamedTuple):
    """Ways of a field from and to JSON."""

    load: Callable[[Any], Any]
    dump: Callable[[Any, bool], Any]


class Message(Printable):
    """Base of every message; `_fields` of a class says what it holds."""

    _fields: ClassVar[tuple[Field, ...]] = ()
    _codecs: ClassVar[dict[str, Codec] | None] = None

    def __init__(self, **values: Any) -> None:
        _check_arguments(type(self), values)
        for name, value in values.items():
            if not isinstance(value, Unset):
                setattr(self, name, value)

    @classmethod
    def from_json(cls, obj: dict[str, Any]) -> Self:
        """Read a decoded answer; keys that it does not know are ignored.

        Raises:
            KeyError: a required field is missing.
        """
        codecs = cls._ways()
        present = (field for field in cls._fields if field.required or field.name in obj)
        return cls(**{field.name: _load(codecs[field.name], obj[field.name], field.required) for field in present})

    def to_json(self, omit_unset: bool = False) -> dict[str, Any]:
        """Return what JSON carries; `omit_unset` leaves out optional fields that were never assigned."""
        codecs, assigned = self._ways(), vars(self)
        shown = (f for f in self._fields if f.required or not omit_unset or f.name in assigned)
        return {f.name: _dump(codecs[f.name], getattr(self, f.name), omit_unset) for f in shown}

    @classmethod
    def _ways(cls) -> dict[str, Codec]:
        if cls._codecs is None:
            cls._codecs = {field.name: codec_of(field.type) for field in cls._fields}
        return cls._codecs


@cache
def class_of(kind: Any) -> type:
    """Return the class for a struct or an enum of the wire."""
    return _enum_class(kind) if is_enum(kind) else _message_class(kind)


def codec_of(kind: Any) -> Codec:
    """Return the ways of a type; plain values pass as they are."""
    kind, origin = bare(kind), get_origin(kind)
    if is_enum(kind):
        return Codec(class_of(kind), lambda value, _: value.value)
    if is_message(kind):
        # the class is looked up when a value comes: messages may contain one another
        return Codec(lambda value: class_of(kind).from_json(value), lambda value, omit: value.to_json(omit))  # type: ignore[attr-defined]
    if kind is float:
        return Codec(float, lambda value, _: dump_float(value))
    if origin in (list, dict):
        return _of_each(origin, codec_of(get_args(kind)[-1]))
    return _PLAIN


def dump_float(value: Any) -> Any:
    """Return a number as JSON can carry it."""
    if math.isnan(value):
        return "Nan"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _of_each(origin: Any, item: Codec) -> Codec:
    if item is _PLAIN:
        return _PLAIN
    if origin is list:
        return Codec(
            lambda values: [item.load(value) for value in values],
            lambda values, omit: [item.dump(value, omit) for value in values],
        )
    return Codec(
        lambda values: {key: item.load(value) for key, value in values.items()},
        lambda values, omit: {key: item.dump(value, omit) for key, value in values.items()},
    )


def _message_class(kind: Any) -> type[Message]:
    name, fields = name_of(kind), tuple(fields_of(kind))
    optional = {field.name: None for field in fields if not field.required}
    members = {"__module__": MODULE, "__doc__": kind.__doc__, "_fields": fields, **optional}
    cls: type[Message] = type(name, (Message,), members)
    cls.__signature__ = Signature([_parameter(field) for field in fields])  # type: ignore[attr-defined]
    return cls


def _enum_class(kind: type[Enum]) -> type[DetEnum]:
    values = [str(member.value) for member in kind]
    prefix = _prefix(values)
    members = [(value.removeprefix(prefix), value) for value in values]
    make: Any = DetEnum
    made: type[DetEnum] = make(name_of(kind), members, module=MODULE)
    return made


def _parameter(field: Field) -> Parameter:
    default = Parameter.empty if field.required else UNSET
    return Parameter(field.name, Parameter.KEYWORD_ONLY, default=default)


def _check_arguments(cls: type[Message], values: dict[str, Any]) -> None:
    names = {field.name for field in cls._fields}
    unknown = [name for name in values if name not in names]
    if unknown:
        raise TypeError(f"{cls.__name__} has no field {unknown[0]!r}; it has {', '.join(sorted(names))}")
    missing = [field.name for field in cls._fields if field.required and field.name not in values]
    if missing:
        raise TypeError(f"{cls.__name__} needs {', '.join(missing)}")


def _load(codec: Codec, value: Any, required: bool) -> Any:
    return None if value is None and not required else codec.load(value)


def _dump(codec: Codec, value: Any, omit_unset: bool) -> Any:
    return None if value is None else codec.dump(value, omit_unset)


def _prefix(values: list[str]) -> str:
    shared = zip(min(values), max(values), strict=False)  # what these two share, all between them share
    prefix = "".join(one for one, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], shared))
    return prefix if prefix.endswith("_") else ""


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_shown(item) for item in value)}]"
    return str(value) if isinstance(value, str | int | float | DetEnum) else "..."


_PLAIN = Codec(lambda value: value, lambda value, _: value)
