"""Values that a checkpoint may hold without being able to run anything: numpy's, and containers and dates of Python.

Torch's `weights_only` fills no containers but lists and dicts. A deque or a defaultdict is therefore read as one of
these, and made what it was once the file is read."""

import contextlib
import datetime
import pickle
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator
from types import MethodType
from typing import Any

import numpy as np
import torch

_DATES = (datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone)
_MAKERS = (bool, dict, float, int, list, str, tuple)  # what a defaultdict makes its values by; torch has `set`


@contextlib.contextmanager
def plain_values() -> Iterator["PlainValues"]:
    """Lets `weights_only` load these values, and no class besides, for the length of the block.

    Example:
        >>> with plain_values() as values:
        ...     state = values.put_into(torch.load(file, weights_only=True))
    """
    values = PlainValues()
    allowed = torch.serialization.get_safe_globals()
    ours = [one for one in (*_numpy(), *_DATES, *_MAKERS, frozenset, *values.names()) if one not in allowed]
    with _without([one for one in allowed if _name(one) in _FILLED]), torch.serialization.safe_globals(ours):
        yield values


class PlainValues:
    """The deques and defaultdicts of one file, each with the list or dict that stands in for it while it is read."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[object, object]] = {}  # by the id of the stand-in, which is kept beside
        self._classes: dict[object, type] = {self._read_deque: deque, self._read_defaultdict: defaultdict}

    def names(self) -> list[tuple[Any, str]]:
        return list(zip(self._classes, _FILLED, strict=True))

    def put_into(self, state: object) -> Any:
        """The state with every stand-in replaced by what it stands for.

        Raises:
            UnpicklingError: one lies inside of an object that is not looked into.
        """
        done: dict[int, object] = {}
        state = self._value(state, done)
        if self._found.keys() - done.keys():
            raise pickle.UnpicklingError("a deque or defaultdict inside of an object of another class")
        return state

    def _read_deque(self, items: Iterable[object] = (), maxlen: int | None = None) -> list[object]:
        standin = list(items)
        self._found[id(standin)] = standin, deque(maxlen=maxlen)
        return standin

    def _read_defaultdict(self, maker: Any = None, *items: Any) -> dict[object, object]:
        standin = dict(*items)
        self._found[id(standin)] = standin, defaultdict(self._classes.get(maker, maker))
        return standin

    def _value(self, node: Any, done: dict[int, object]) -> object:
        """`done` has what every container became: one that is in two places, or in itself, stays so."""
        kind = type(node)
        if kind is MethodType:
            return self._classes.get(node, node)
        if kind is tuple:
            parts = tuple([self._value(part, done) for part in node])
            return node if all(new is old for new, old in zip(parts, node, strict=True)) else parts
        if kind not in (list, dict, OrderedDict, Counter):
            return node
        if id(node) not in done:
            done[id(node)] = self._found.get(id(node), (node, node))[1]
            self._fill(done[id(node)], node, done)
        return done[id(node)]

    def _fill(self, target: Any, node: Any, done: dict[int, object]) -> None:
        """Put what `node` holds into `target`, which may be itself."""
        if isinstance(target, deque):
            target.extend(self._value(part, done) for part in node)
            return
        for key, part in list(enumerate(node) if isinstance(node, list) else node.items()):
            target[key] = self._value(part, done)


_FILLED = ("collections.deque", "collections.defaultdict")


def _numpy() -> list[Any]:
    """Arrays and numbers: random states hold them, and users' callbacks do."""
    rebuild: object
    scalar: object
    rebuild, scalar = np.zeros(1).__reduce__()[0], np.float64(0).__reduce__()[0]
    kinds = [getattr(np.dtypes, name) for name in np.dtypes.__all__ if name not in ("ObjectDType", "StringDType")]
    names = [
        (rebuild, "numpy.core.multiarray._reconstruct"),  # as numpy 1 wrote them
        (scalar, "numpy.core.multiarray.scalar"),
        (rebuild, "numpy._core.multiarray._reconstruct"),
        (scalar, "numpy._core.multiarray.scalar"),
    ]
    return [np.ndarray, np.dtype, *kinds, *names]


@contextlib.contextmanager
def _without(clashing: list[Any]) -> Iterator[None]:
    """Hide what a user has allowed under a name of ours meanwhile: torch would take either of the
    two."""
    if not clashing:
        yield
        return
    rest = [one for one in torch.serialization.get_safe_globals() if one not in clashing]
    torch.serialization.clear_safe_globals()
    torch.serialization.add_safe_globals(rest)
    try:
        yield
    finally:
        torch.serialization.add_safe_globals(clashing)


def _name(allowed: Any) -> str:
    return str(allowed[1]) if isinstance(allowed, tuple) else f"{allowed.__module__}.{allowed.__qualname__}"
