"""What goes well until a trial is paused or moved: state kept on the trial object, paths that are not on this node."""

import itertools
import logging
import random
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

logger = logging.getLogger("determined.trial")

_LOOKED_AT = 64  # items of a container; growth is seen by its length
_SMALL = 4096  # bytes of an array whose content is compared


class AttributeWatch:
    """Finds attributes of a trial that change while it trains and that no checkpoint holds. Says so once.

    Make it when the trial is ready to train: what its constructor and loaders have set is set anew after a resume.
    Looking costs some microseconds an attribute; do so at checkpoints.
    """

    def __init__(
        self,
        trial: object,
        is_kept: Callable[[Any], bool] = lambda _value: False,
        remedy: str = "keep it in a callback with state_dict and load_state_dict",
    ) -> None:
        """`is_kept`: whether a checkpoint holds this value, or what it belongs to. `remedy`: what to do instead."""
        self._trial = trial
        self._is_kept = is_kept
        self._remedy = remedy
        self._marks = {name: mark(value) for name, value in _attributes(trial)}
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
        found = []
        for name, value in _attributes(self._trial):
            before, now = self._marks.get(name, _NOTHING), mark(value)
            self._marks[name] = now
            if before not in (now, _NOTHING) and not self._is_kept(value):
                found.append(name)
        return found


def mark(value: Any) -> object:
    """Something that stays equal while a value stays the same, as far as can be told cheaply and without frameworks."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return repr(value) if isinstance(value, float | complex) else value  # nan is not equal to itself
    if isinstance(value, dict):
        return len(value), tuple(map(_item_mark, itertools.chain(*itertools.islice(value.items(), _LOOKED_AT))))
    if isinstance(value, list | tuple | set | frozenset | deque):
        return len(value), tuple(map(_item_mark, itertools.islice(value, _LOOKED_AT)))
    if isinstance(value, random.Random):
        return hash(value.getstate())
    return _array_mark(value)


def warn_of_missing_paths(data: dict[str, Any]) -> None:
    """Say, once for each, which absolute paths of `data` lead nowhere here: they may be on the submitter's machine."""
    for field, path in _paths(data, "data"):
        if (field, path) in _told or Path(path).exists() or Path(path).parent.exists():
            continue  # what has a parent may be made by the trial
        _told.add((field, path))
        logger.warning(
            "%s is %s, which is not on this node, nor is the directory it would be in; put the data where every node "
            "has it, mount it with bind_mounts, or submit with --config %s=PATH",
            field,
            path,
            field,
        )


_NOTHING: object = None  # the mark of None as well: an attribute that is filled later was not there before
_told: set[tuple[str, str]] = set()


def _attributes(trial: object) -> list[tuple[str, Any]]:
    return list(getattr(trial, "__dict__", {}).items())


def _item_mark(value: Any) -> object:
    return value if isinstance(value, bool | int | str | bytes | None) else _other_item_mark(value)


def _other_item_mark(value: Any) -> object:
    return repr(value) if isinstance(value, float) else id(value)


def _array_mark(value: Any) -> object:
    generator = getattr(value, "bit_generator", None)
    if generator is not None:
        return repr(generator.state)  # numpy's random numbers
    size = getattr(value, "nbytes", None)
    if isinstance(size, int) and size <= _SMALL and callable(getattr(value, "tobytes", None)):
        return bytes(value.tobytes())
    return id(value), _version(value)


def _version(value: Any) -> object:
    """How often a tensor was changed in place."""
    try:
        return getattr(value, "_version", None)
    except RuntimeError:  # one made in inference mode does not count
        return None


def _paths(value: Any, field: str) -> Iterator[tuple[str, str]]:
    """Absolute paths within a section, with their fields."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _paths(each, f"{field}.{key}")
    elif isinstance(value, list):
        for each in value:
            yield from _paths(each, field)
    elif isinstance(value, str) and value.startswith("/") and not value.startswith("//") and "\n" not in value:
        yield field, value
