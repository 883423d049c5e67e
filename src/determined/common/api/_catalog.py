"""Operations and messages of the wire under upstream's names. Whatever lands in `determined/wire` is found here."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeGuard, Union, get_args, get_origin

import msgspec

from determined import wire
from determined.common.api._shapes import ALWAYS, REPLACED, REQUESTS, RESPONSES
from determined.wire.codec import camel
from determined.wire.operation import Nothing, Operation
from determined.wire.upstream import MARK

_ANSWER = "Response"


@dataclass(frozen=True)
class Field:
    """Field of a message, or parameter of a query. `type` is free of None and of annotations."""

    name: str
    required: bool
    type: Any
    text: str = ""

    @property
    def argument(self) -> str:
        """Return its name as a parameter of a function: the API has dots in some."""
        return self.name.replace(".", "_")


@dataclass(frozen=True)
class Call:
    """Operation with what upstream's clients send and read."""

    name: str
    operation: Operation[Any, Any]
    request: Any
    response: Any

    @property
    def ids(self) -> tuple[str, ...]:
        """List upstream's names of the ids in the path."""
        return self.operation.id_names or tuple(camel(name) for name in self.operation.ids)

    @property
    def query(self) -> list[Field]:
        """List the parameters of the query string."""
        return fields_of(self.request) if self.operation.method == "GET" and self.request is not Nothing else []

    @property
    def body(self) -> Any:
        """Return the type of the body; None without one."""
        return None if self.operation.method == "GET" or self.request is Nothing else self.request


@cache
def calls() -> dict[str, Call]:
    """Return every operation that upstream has too, by the name of its function."""
    calls_by_function = {}
    for constant, operation in _operations():
        name = _rpc(constant, operation)
        function = f"{operation.method.lower()}_{name}"
        request = REQUESTS.get(name, operation.request)
        response = RESPONSES.get(name) or _named(operation.response, f"{name}{_ANSWER}")
        calls_by_function[function] = Call(function, operation, REPLACED.get(request, request), response)
    return calls_by_function


@cache
def messages() -> dict[str, Any]:
    """Return every struct and enum that an operation names, by upstream's name."""
    kinds: dict[str, Any] = {}
    for kind in ALWAYS:
        _collect(kind, kinds)
    for call in calls().values():
        _collect(call.response, kinds)
        if call.body is not None:
            _collect(call.body, kinds)
        for parameter in call.query:
            _collect(parameter.type, kinds)
    return kinds


def name_of(kind: Any) -> str:
    """Return upstream's name of a struct or an enum."""
    original = next((plain for plain, whole in REPLACED.items() if whole is kind), kind)
    return str(vars(kind).get("__upstream__") or vars(original).get("__upstream__") or f"v1{original.__name__}")


def fields_of(kind: Any) -> list[Field]:
    """List upstream's fields of a struct: required ones first, each part by name."""
    found = [_field(field) for field in msgspec.structs.fields(kind) if _mark(field.type) != "absent"]
    return sorted(found, key=lambda field: (not field.required, field.name))


def is_message(kind: Any) -> TypeGuard[type[msgspec.Struct]]:
    """Return whether a type is a struct with fields; upstream has no classes for others."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct) and bool(fields_of(kind))


def is_enum(kind: Any) -> TypeGuard[type[Enum]]:
    return isinstance(kind, type) and issubclass(kind, Enum)


def bare(kind: Any) -> Any:
    """Return a type without annotations, None and UNSET; the one of upstream's where ours is replaced."""
    origin = get_origin(kind)
    if origin is Annotated:
        return bare(get_args(kind)[0])
    if origin in (Union, UnionType):
        others = [arg for arg in get_args(kind) if arg not in (type(None), msgspec.UnsetType)]
        return bare(others[0]) if len(others) == 1 else Any
    if origin in (list, dict):
        return origin[tuple(bare(arg) for arg in get_args(kind))]
    return REPLACED.get(kind, kind) if isinstance(kind, type) else kind


def _operations() -> Iterator[tuple[str, Operation[Any, Any]]]:
    for module in pkgutil.iter_modules(wire.__path__):
        for constant, value in vars(importlib.import_module(f"{wire.__name__}.{module.name}")).items():
            if isinstance(value, Operation) and not value.ours:
                yield constant, value


def _rpc(constant: str, operation: Operation[Any, Any]) -> str:
    answer = getattr(operation.response, "__name__", "")
    derived = answer.removesuffix(_ANSWER) if answer.endswith(_ANSWER) else constant.title().replace("_", "")
    return operation.rpc or derived


def _named(response: Any, name: str) -> Any:
    """Return a response under the name that follows from its operation: operations of ours share some."""
    if not is_message(response) or response.__name__ == name:
        return response
    return msgspec.defstruct(name, [], bases=(response,), module=response.__module__)


def _collect(kind: Any, kinds: dict[str, Any]) -> None:
    kind = bare(kind)
    if get_origin(kind) in (list, dict):
        return _collect(get_args(kind)[-1], kinds)
    if is_enum(kind):
        kinds[name_of(kind)] = kind
    elif is_message(kind) and name_of(kind) not in kinds:
        kinds[name_of(kind)] = kind
        for field in fields_of(kind):
            _collect(field.type, kinds)
    return None


def _field(field: msgspec.structs.FieldInfo) -> Field:
    mark = _mark(field.type)
    required = mark == "required" or (field.required and mark != "optional")
    return Field(field.encode_name, required, bare(field.type), _description(field.type))


def _mark(kind: Any) -> str:
    return next((str(meta.extra[MARK]) for meta in _metas(kind) if meta.extra and MARK in meta.extra), "")


def _description(kind: Any) -> str:
    return next((re.sub(r"\s+", " ", meta.description) for meta in _metas(kind) if meta.description), "")


def _metas(kind: Any) -> list[msgspec.Meta]:
    return [meta for meta in getattr(kind, "__metadata__", ()) if isinstance(meta, msgspec.Meta)]
