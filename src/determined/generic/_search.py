"""Length to train: the current operation of the search, one at a time."""

import logging
from collections.abc import Iterator, Mapping
from enum import Enum

from determined import core
from determined.wire.userdata import to_plain

logger = logging.getLogger("determined.generic")

Operation = core.SearcherOperation | core.DummySearcherOperation


class Unit(Enum):
    """Unit of a length."""

    EPOCHS = "UNIT_EPOCHS"
    RECORDS = "UNIT_RECORDS"
    BATCHES = "UNIT_BATCHES"


class SearcherOp:
    """Train until `length` in all, then `complete`. Made by `training.basic_search` and `training.advanced_search`."""

    def __init__(self, length: int, unit: Unit | None, operation: Operation | None = None) -> None:
        self._length = length
        self._unit = unit
        self._operation = operation  # None: it was completed before this process began
        self._completed = operation is None

    @property
    def length(self) -> int:
        """Length to have trained altogether, not how much more."""
        return self._length

    @property
    def unit(self) -> Unit | None:
        """Return what `length` counts; None when the config gives a bare number."""
        return self._unit

    @property
    def epochs(self) -> int:
        """The length, if it counts epochs (or the config gives a bare number). Raises RuntimeError otherwise."""
        return self._counted_in(Unit.EPOCHS)

    @property
    def batches(self) -> int:
        """The length, if it counts batches (or the config gives a bare number). Raises RuntimeError otherwise."""
        return self._counted_in(Unit.BATCHES)

    @property
    def records(self) -> int:
        """The length, if it counts records (or the config gives a bare number). Raises RuntimeError otherwise."""
        return self._counted_in(Unit.RECORDS)

    @property
    def completed(self) -> bool:
        """Return whether this process, or an earlier run of the trial, has completed the operation. Known on the
        chief."""
        return self._completed

    def report_progress(self, length: float) -> None:
        """Report how far training has come. What lies outside of the operation is cut off; after its end nothing is
        said."""
        if self._operation is not None and not self._completed:
            self._operation.report_progress(min(max(float(length), 0.0), float(self._length)))

    def complete(self, metric: object) -> None:
        """The searcher metric after training for `length`. Chief only, once.

        Args:
            metric: a number, a 0-d tensor, or a map of names to them where the config names several metrics. NaN
                counts as the worst there is.

        Raises:
            RuntimeError: the operation was already completed by this process.
            TypeError: not a number.
        """
        if self._operation is None:
            logger.info("the operation of length %s was completed by an earlier run of this trial", self._length)
            return
        self._operation.report_completed(_numbers(metric))
        self._completed = True

    def _counted_in(self, unit: Unit) -> int:
        if self._unit is not None and self._unit is not unit:
            expected, given = unit.name.lower(), self._unit.name.lower()
            raise RuntimeError(
                f"this search counts {given}; use op.{given}, or configure searcher.max_length.{expected}"
            )
        return self._length


class Search:
    """The operations of this process's trial. On a job of several ranks both calls are for all of them."""

    def __init__(self, context: core.Context, unit: Unit | None) -> None:
        self._context = context
        self._unit = unit
        self._operations: Iterator[Operation] | None = None
        self._current: SearcherOp | None = None

    def basic(self) -> SearcherOp | None:
        """The current operation; the next one after its completion; None when there is nothing more to train."""
        if self._current is not None and not self._context.distributed.broadcast(self._current.completed):
            return self._current
        if self._operations is not None:
            return self._advance()
        self._operations = self._context.searcher.operations(auto_ack=False)
        operation = self._advance()
        if operation is None:
            self._current = operation = SearcherOp(self._trained_length(), self._unit)
        return operation

    def advanced(self, auto_ack: bool) -> Iterator[SearcherOp]:
        for operation in self._context.searcher.operations(auto_ack=auto_ack):
            yield SearcherOp(operation.length, self._unit, operation)

    def leave(self) -> None:
        """The script exits. Having done what it was told, it may be started again for more."""
        is_chief = self._context.distributed.rank == 0
        if is_chief and self._current is not None and self._current.completed:
            self._context.searcher.acknowledge_out_of_ops()

    def _advance(self) -> SearcherOp | None:
        operation = next(self._operations, None) if self._operations is not None else None
        if operation is None:
            return None
        self._current = SearcherOp(operation.length, self._unit, operation)
        return self._current

    def _trained_length(self) -> int:
        searcher = self._context.searcher
        length = searcher.get_trained_length() if isinstance(searcher, core.SearcherContext) else 0
        return int(self._context.distributed.broadcast(length))


def configured_unit(context: core.Context) -> Unit | None:
    """The unit of the experiment config; None where it names none."""
    if isinstance(context.searcher, core.SearcherContextMissing):
        return None
    unit = context.searcher.get_configured_units()
    return None if unit is None else Unit[unit.name]


def _numbers(metric: object) -> object:
    if isinstance(metric, Mapping):
        return {str(name): _number(value) for name, value in metric.items()}
    return _number(metric)


def _number(value: object) -> float:
    try:
        return float(to_plain(value))
    except (TypeError, ValueError) as err:
        raise TypeError(f"searcher metric {value!r} is no number; report a float or a 0-d tensor") from err
