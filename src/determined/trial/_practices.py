"""Warnings of code that works until a trial is paused or moved: state kept on the trial object, paths that are not on
this node."""

import itertools
import logging
import random
import weakref
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from determined._imports import is_of_user
from determined._json import JsonObject

logger = logging.getLogger("determined.trial")

_LOOKED_AT = 64  # items of a container; growth is seen by its length
_DEPTH = 3  # of containers and objects within each other
_SMALL = 1 << 20  # bytes of an array whose content is compared


class AttributeWatch:
    """Finds attributes of a trial that change while it trains and that no checkpoint holds. Says so once.

    Make it when the trial is ready to train: what its constructor and loaders have set is set anew after a resume.
    Looking costs some microseconds an attribute, a millisecond for a large array; do so at checkpoints.
    """

    def __init__(
        self,
        trial: object,
        is_kept: Callable[[object], bool] = lambda _value: False,
        remedy: str = "keep it in a callback with state_dict and load_state_dict",
        weights_of: Callable[[object], Iterable[object] | None] = lambda _value: None,
    ) -> None:
        """`is_kept`: whether a checkpoint holds this value, or what it belongs to. `remedy`: what to do instead.
        `weights_of`: the tensors of a model; None for what is no model."""
        self._trial = trial
        self._is_kept = is_kept
        self._remedy = remedy
        self._weights_of = weights_of
        self._marks = {name: self._mark(value) for name, value in _attributes(trial)}
        self._has_warned = False

    def look(self) -> None:
        if self._has_warned:
            return
        changed = self.changed()
        if not changed:
            return
        self._has_warned = True
        logger.warning(
            "%s changed %s while it trained, which no checkpoint holds: after a pause or a restart a trial is made "
            "anew and this is what __init__ makes it; %s",
            type(self._trial).__name__,
            ", ".join(f"self.{name}" for name in changed),
            self._remedy,
        )

    def changed(self) -> list[str]:
        """Attributes whose values are others than at the last look. One that was just made is not: many are caches."""
        names = []
        for name, value in _attributes(self._trial):
            before, now = self._marks.get(name, _NOTHING), self._mark(value)
            self._marks[name] = now
            if before not in (now, _NOTHING) and not self._is_kept(value):
                names.append(name)
        return names

    def _mark(self, value: object, depth: int = _DEPTH) -> object:
        """Return a mark that stays equal while a value does, as far as can be told cheaply and without frameworks."""
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            return repr(value) if isinstance(value, float | complex) else value  # nan is not equal to itself
        if self._is_kept(value):
            return _KEPT
        if isinstance(value, list | tuple | set | frozenset | deque):
            return len(value), self._marks_of(value, depth)
        if isinstance(value, dict):
            return len(value), self._marks_of(value, depth), self._marks_of(value.values(), depth)
        return self._object_mark(value, depth)

    def _object_mark(self, value: object, depth: int) -> object:
        weights = self._weights_of(value)
        if weights is not None:
            return tuple(_Identity.of(each) for each in weights if not self._is_kept(each))
        if _is_plain_object(value):
            return _Identity.of(value), self._marks_of(vars(value).values(), depth)
        return _content_mark(value)

    def _marks_of(self, values: Iterable[object], depth: int) -> tuple[object, ...]:
        if depth == 0:
            return ()
        limit = _LOOKED_AT >> 2 * (_DEPTH - depth)  # fewer of those that are deeper: a look stays cheap
        return tuple(self._mark(value, depth - 1) for value in itertools.islice(values, limit))


def warn_of_missing_paths(data: JsonObject) -> None:
    """Say, once for each, which absolute paths of `data` lead nowhere here: they may be on the submitter's machine."""
    for field, path in _paths(data, "data"):
        if (field, path) in _looked_at:
            continue  # some ask for their data config in every batch
        _looked_at.add((field, path))
        if _is_here(Path(path)) or _may_be_made(Path(path)):
            continue
        logger.warning(
            "%s is %s, which this node does not have or may not read, nor the directory it would be in; put the data "
            "where every node has it, mount it with bind_mounts, or submit with --config %s=PATH",
            field,
            path,
            field,
        )


_NOTHING: object = None  # the mark of None as well: an attribute that is filled later was not there before
_KEPT: object = "kept"
_looked_at: set[tuple[str, str]] = set()


@dataclass(frozen=True, slots=True, eq=False)
class _Identity:
    """Identity of an object. Its address would not do: a value that replaces another is often given the same."""

    held: object
    version: object

    @classmethod
    def of(cls, value: object) -> "_Identity":
        try:
            held: object = weakref.ref(value)  # of one object there is one, and none of what comes after it
        except TypeError:
            held = value
        return cls(held, _version(value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.held is other.held and self.version == other.version

    def __hash__(self) -> int:
        return id(self.held)


def _attributes(trial: object) -> list[tuple[str, object]]:
    return list(getattr(trial, "__dict__", {}).items())


def _is_plain_object(value: object) -> bool:
    """An average, a history, a buffer of the user's own making. What derives from a framework's class changes by its
    own ways, and what holds data fills caches."""
    kind = type(value)
    if not hasattr(value, "__dict__") or hasattr(kind, "__getitem__") or hasattr(kind, "__iter__"):
        return False
    return all(is_of_user(base.__module__) for base in kind.__mro__[:-1])


def _content_mark(value: Any) -> object:
    if isinstance(value, random.Random):
        return hash(value.getstate())
    generator = getattr(value, "bit_generator", None) or getattr(value, "_bit_generator", None)
    if generator is not None:
        return repr(generator.state)  # numpy's random numbers, of today and of old
    size = getattr(value, "nbytes", None)
    if isinstance(size, int) and size <= _SMALL and callable(getattr(value, "tobytes", None)):
        return size, zlib.crc32(value.tobytes())
    return _Identity.of(value)


def _version(value: object) -> object:
    """Return how often a tensor was changed in place."""
    try:
        return getattr(value, "_version", None)
    except RuntimeError:  # one made in inference mode does not count
        return None


def _is_here(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # it may not be looked at, or is no path at all; whoever uses it will say so
        return False


def _may_be_made(path: Path) -> bool:
    """Return whether the trial itself may make a path: its directory is here. That of `/data` is everywhere, and says
    nothing."""
    return path.parent.name != "" and _is_here(path.parent)


def _paths(value: object, field: str) -> Iterator[tuple[str, str]]:
    """Yield absolute paths within a section, with their fields."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _paths(each, f"{field}.{key}")
    elif isinstance(value, list):
        for each in value:
            yield from _paths(each, field)
    elif isinstance(value, str) and value.startswith("/") and not value.startswith("//") and "\n" not in value:
        yield field, value
