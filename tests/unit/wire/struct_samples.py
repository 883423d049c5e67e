"""Every struct and operation of the wire, and instances of a struct that hold extreme values."""

import importlib
import pkgutil
from collections.abc import Iterator
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, Meta, UnsetType

from determined import wire
from determined.wire.codec import Wire
from determined.wire.operation import Operation

TEXTS = ["", "x", "null", 'ö\u2028\U0001f600"\\\n']
NUMBERS = [0, 1, -1, 2**31, 2**63 - 1, -(2**63)]
FLOATS = [0.0, 1.0, -1.5, 0.1, 1e308, 5e-324, 1e6]
FREE = [None, True, "text", 2.5, {"snake_case": [1, None, {"": "x"}]}]


_open: set[Any] = set()


def modules() -> list[Any]:
    return [importlib.import_module(f"determined.wire.{found.name}") for found in pkgutil.iter_modules(wire.__path__)]


def structs() -> list[type[Wire]]:
    """List every struct that wire declares."""
    kinds = {
        value
        for module in modules()
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Wire) and value.__module__ == module.__name__
    }
    return sorted(kinds, key=lambda kind: (kind.__module__, kind.__name__))


def operations() -> list[Operation[Any, Any]]:
    found = {id(v): v for module in modules() for v in vars(module).values() if isinstance(v, Operation)}
    return sorted(found.values(), key=lambda operation: (operation.path, operation.method))


def label(kind: type[Any]) -> str:
    return f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}"


@cache
def variants(kind: type[msgspec.Struct]) -> list[Any]:
    """Make instances that together hold every sample of every field."""
    _open.add(kind)  # a struct may contain itself: then with nothing inside
    columns = {field.name: samples(field.type) for field in msgspec.structs.fields(kind)}
    _open.discard(kind)
    most = max((len(column) for column in columns.values()), default=1)
    return [kind(**{name: column[n % len(column)] for name, column in columns.items()}) for n in range(most)]


@cache
def samples(kind: Any) -> list[Any]:
    """List values that a field of this type may hold."""
    notes, bare = _split(kind)
    found = [value for value in _samples(bare) if all(_fits(value, note) for note in notes)]
    assert found or bare in _open, f"no sample fits {kind}"
    return found


def is_optional(kind: Any) -> bool:
    """Tell whether null may stand for a value of this type."""
    _, bare = _split(kind)
    return bare in (Any, NoneType) or (_is_union(bare) and any(map(is_optional, get_args(bare))))


def alternatives(kind: Any) -> list[Any]:
    """List the types of a union without null and "absent", and without annotations."""
    _, bare = _split(kind)
    parts = get_args(bare) if _is_union(bare) else (bare,)
    return [_split(part)[1] for part in parts if part not in (NoneType, UnsetType)]


def _samples(kind: Any) -> list[Any]:
    plain: dict[Any, list[Any]] = {
        str: TEXTS,
        bytes: [b"", b"\x00\xff"],
        int: NUMBERS,
        float: FLOATS,
        bool: [False, True],
        NoneType: [None],
        UnsetType: [UNSET],
    }
    if kind in plain:
        return plain[kind]
    if kind is Any:
        return FREE
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    if _is_union(kind):
        return [value for part in get_args(kind) for value in samples(part)]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return list(kind)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return [] if kind in _open else variants(kind)
    return list(_collections(get_origin(kind), get_args(kind)))


def _collections(origin: Any, inner: tuple[Any, ...]) -> Iterator[Any]:
    if origin is tuple:
        yield tuple(samples(part)[0] for part in inner)
        yield tuple(samples(part)[-1] for part in inner)
    elif origin is list:
        yield from ([], samples(inner[0])[:4])
    else:
        assert origin is dict, f"no samples of {origin}"
        yield from ({}, {"snake_case": samples(inner[1])[0], "": samples(inner[1])[-1]})


def _split(kind: Any) -> tuple[list[Meta], Any]:
    if get_origin(kind) is not Annotated:
        return [], kind
    bare, *notes = get_args(kind)
    return [note for note in notes if isinstance(note, Meta)], bare


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType)


def _fits(value: Any, note: Meta) -> bool:
    if value is None or value is UNSET:
        return True
    if note.max_length is not None and len(value) > note.max_length:
        return False
    low = (note.ge is None or value >= note.ge) and (note.gt is None or value > note.gt)
    return low and (note.le is None or value <= note.le) and (note.lt is None or value < note.lt)
