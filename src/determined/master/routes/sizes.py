"""Limits of texts and lists in a request, read off the wire structs.

A text field takes MAX_TEXT characters and a list or mapping MAX_ITEMS entries, unless the field's type says otherwise:
`Annotated[str, Meta(max_length=...)]`. Data without a type (`Any`) has the same limits at every depth.
"""

import types
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from msgspec import Meta

from determined.errors import InvalidArgument

MAX_TEXT = 64 * 1024  # characters
MAX_ITEMS = 10_000

_Check = Callable[[Any, str], None]


def check_sizes(plain: Any, kind: Any) -> None:
    """Compare decoded JSON with the limits of `kind`.

    Raises:
        InvalidArgument: names the field, also in its details, its length and the limit.
    """
    check = _check_for(kind)
    if check is not None:
        check(plain, "")


@cache
def _check_for(kind: Any) -> _Check | None:
    """Return the check of a type; None where nothing of it can be long, so that numbers cost nothing."""
    limit, kind = _limit(kind)
    if kind is Any:
        return _untyped
    if kind is str:
        return _text(limit or MAX_TEXT)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _struct(kind)
    return _generic(get_origin(kind) or kind, get_args(kind), limit or MAX_ITEMS)


def _generic(origin: Any, inner: tuple[Any, ...], limit: int) -> _Check | None:
    if origin in (list, tuple, set, frozenset):
        return _list(inner[0] if inner else Any, limit)
    if origin is dict:
        return _mapping(inner[1] if inner else Any, limit)
    return _union(inner) if origin in (Union, types.UnionType) else None


def _limit(kind: Any) -> tuple[int | None, Any]:
    """Split a type into its limit and the type without its annotation."""
    if get_origin(kind) is not Annotated:
        return None, kind
    bare, *notes = get_args(kind)
    return next((n.max_length for n in notes if isinstance(n, Meta) and n.max_length is not None), None), bare


def _text(limit: int) -> _Check:
    def check(value: Any, at: str) -> None:
        if isinstance(value, str) and len(value) > limit:
            raise _too_long(at, f"has {len(value)} characters; at most {limit} are taken")

    return check


def _list(item: Any, limit: int) -> _Check:
    inner = _check_for(item)

    def check(value: Any, at: str) -> None:
        if not isinstance(value, list):
            return
        if len(value) > limit:
            raise _too_long(at, f"has {len(value)} entries; at most {limit} are taken at once")
        if inner is not None:
            for n, one in enumerate(value):
                inner(one, f"{at}[{n}]")

    return check


def _mapping(item: Any, limit: int) -> _Check:
    inner = _check_for(item)

    def check(value: Any, at: str) -> None:
        if not isinstance(value, dict):
            return
        if len(value) > limit:
            raise _too_long(at, f"has {len(value)} entries; at most {limit} are taken at once")
        for key, one in value.items():
            if len(key) > MAX_TEXT:
                raise _too_long(at, f"has {len(key)} characters; at most {MAX_TEXT} are taken", what="a name in ")
            if inner is not None:
                inner(one, f"{at}.{key[:80]}" if at else key[:80])

    return check


def _struct(kind: type[msgspec.Struct]) -> _Check:
    # resolved when first used: a struct may contain itself
    fields: dict[str, _Check] | None = None

    def check(value: Any, at: str) -> None:
        nonlocal fields
        if fields is None:
            fields = _field_checks(kind)
        if not isinstance(value, dict):
            return
        for name in value.keys() & fields.keys():
            fields[name](value[name], f"{at}.{name}" if at else name)

    return check


def _field_checks(kind: type[msgspec.Struct]) -> dict[str, _Check]:
    checks = ((field.encode_name, _check_for(field.type)) for field in msgspec.structs.fields(kind))
    return {name: check for name, check in checks if check is not None}


def _too_long(at: str, words: str, what: str = "") -> InvalidArgument:
    """Name the field in words and, for forms, in the details."""
    return InvalidArgument(f"{what}{at or 'the body'} {words}", **({"field": at} if at else {}))


def _union(kinds: tuple[Any, ...]) -> _Check | None:
    checks = [check for check in map(_check_for, kinds) if check is not None]

    def check(value: Any, at: str) -> None:
        for one in checks:
            one(value, at)

    return check if checks else None


def _untyped(value: Any, at: str) -> None:
    if isinstance(value, str):
        _ANY_TEXT(value, at)
    elif isinstance(value, list):
        _ANY_LIST(value, at)
    elif isinstance(value, dict):
        _ANY_MAPPING(value, at)


_ANY_TEXT = _text(MAX_TEXT)
_ANY_LIST = _list(Any, MAX_ITEMS)
_ANY_MAPPING = _mapping(Any, MAX_ITEMS)
