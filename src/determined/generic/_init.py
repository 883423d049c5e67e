"""generic.init: one started context per process, closed when the script ends, however it ends."""

import atexit
import sys
from types import TracebackType

from determined import core
from determined._info import trial_of
from determined._json import JsonObject
from determined.errors import InvalidHP
from determined.generic._context import Context
from determined.generic._search import Unit, configured_unit
from determined.generic._training import Trial

_DEFAULT_LENGTH = {"epochs": 1}


def init(
    *,
    distributed: core.DistributedContext | None = None,
    checkpoint_storage: str | JsonObject | None = None,
    hparams: JsonObject | None = None,
    trial_seed: int | None = None,
    max_length: int | dict[str, int] | None = None,
) -> Context:
    """The Generic API context of this process, started; a second call returns the same one.

    Args:
        distributed: who this process is among its peers; needed in a task with more than one slot.
        checkpoint_storage: where checkpoints go instead of the experiment's own storage.
        hparams: hyperparameters for a run off cluster; a trial has its own.
        trial_seed: the seed of a run off cluster.
        max_length: how long to train off cluster, like `searcher.max_length`: {"epochs": 10}.

    Returns:
        A context that closes itself when the script ends. An uncaught `det.InvalidHP` ends the trial cleanly.

    Raises:
        ValueError: a task with several slots and no `distributed`, or a storage or length that makes no sense.

    Example:
        >>> context = det.generic.init()
        >>> context.training.report_training_metrics(batches_trained=1, metrics={"loss": 0.1})
    """
    global _live
    if _live is not None:
        return _live.context
    length, unit = _length(max_length)
    context = core.init(distributed=distributed, checkpoint_storage=checkpoint_storage)
    if info := trial_of(context.info):
        trial, unit = Trial.of(info.trial), configured_unit(context)
    else:
        trial = Trial(dict(hparams or {}), trial_seed or 0)
        context.searcher = core.DummySearcherContext(context.distributed, length)
    _live = _Live(Context(context.start(), trial, unit, on_close=_forget))
    return _live.context


class _Live:
    """The one context of this process and what it has put into the interpreter."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._earlier_hook = sys.excepthook
        self._hook = self._uncaught
        sys.excepthook = self._hook
        atexit.register(context.close)

    def remove(self) -> None:
        atexit.unregister(self.context.close)
        if sys.excepthook is self._hook:  # otherwise somebody has wrapped ours, and still calls it
            sys.excepthook = self._earlier_hook

    def _uncaught(self, kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        """The script ends with this exception. A live context turns InvalidHP into SystemExit: the process's status."""
        if isinstance(value, InvalidHP):
            self.context.__exit__(kind, value, trace)
        self.context._fail()
        self._earlier_hook(kind, value, trace)


def _forget() -> None:
    global _live
    if _live is not None:
        _live.remove()
    _live = None


def _length(given: int | dict[str, int] | None) -> tuple[int, Unit | None]:
    length = _DEFAULT_LENGTH if given is None else given
    if isinstance(length, int):
        return length, None
    units = {unit.name.lower(): unit for unit in Unit}
    name, count = next(iter(length.items()), (None, 0))
    if len(length) != 1 or name not in units:
        raise ValueError(f"max_length={given!r} is no length; write a number or e.g. {_DEFAULT_LENGTH}")
    return int(count), units[name]


_live: _Live | None = None
