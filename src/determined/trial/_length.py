"""Length of a training: legs that the searcher hands out (classic), or one leg (late, and off cluster)."""

import logging
import math
import warnings
from collections.abc import Callable, Iterator

from determined import core
from determined._json import JsonObject
from determined.search.generations import generation
from determined.trial._periods import Batch, Count, Epoch, EpochLength, TrainUnit, check_length

logger = logging.getLogger("determined.trial")

_IN_A_SCRIPT = "pass max_length=pytorch.Epoch(n)"
WHERE_A_LENGTH_IS = "add `searcher.max_length: {epochs: n}` to the experiment config"  # of a trial class


Operation = core.SearcherOperation | core.DummySearcherOperation


class Leg:
    """Train until `until`, counted from the beginning of the trial; then say how good the model is."""

    def __init__(self, until: TrainUnit) -> None:
        self.until = until
        self.is_completed = False

    def batches(self, epoch_length: EpochLength) -> Count:
        return self.until._length(epoch_length)

    def report_progress(self, core_context: core.Context, batches: int, epoch_length: EpochLength) -> None:
        total = self.batches(epoch_length)
        if total != math.inf:
            core_context.train.report_progress(min(float(batches / total), 1.0))

    def complete(self, metric: object, is_chief: bool) -> None:
        """Complete the leg on every rank; the chief alone tells the searcher."""
        self.is_completed = True


class OperationLeg(Leg):
    """A leg the searcher asked for."""

    def __init__(self, operation: Operation, until: TrainUnit, units: Callable[[int, EpochLength], float]) -> None:
        super().__init__(until)
        self._operation = operation
        self._units = units

    def report_progress(self, core_context: core.Context, batches: int, epoch_length: EpochLength) -> None:
        """Report progress in the searcher's units; at the end exactly its length, though batches seldom divide a number
        of records."""
        if self.is_completed:
            return
        length = self._operation.length
        is_end = batches >= self.batches(epoch_length)
        self._operation.report_progress(length if is_end else min(self._units(batches, epoch_length), length))

    def complete(self, metric: object, is_chief: bool) -> None:
        super().complete(metric, is_chief)
        if is_chief:
            self._operation.report_completed(metric)


def cluster_legs(
    config: JsonObject,
    core_context: core.Context,
    global_batch_size: Callable[[], int],
    max_length: TrainUnit | None = None,
    call: str = "Trainer.fit",
    way_out: str = _IN_A_SCRIPT,
) -> Iterator[Leg]:
    """Return how long this trial trains: by operations where the master hands them out, else as script or config
    say."""
    if generation(config) == "classic":
        if max_length is not None:
            logger.warning("max_length=%r is ignored: the searcher decides how long this trial trains", max_length)
        return operation_legs(core_context, global_batch_size)
    return one_leg(late_length(max_length, config.get("searcher") or {}, global_batch_size, call, way_out))


def one_leg(until: TrainUnit) -> Iterator[Leg]:
    yield Leg(until)


def operation_legs(core_context: core.Context, global_batch_size: Callable[[], int]) -> Iterator[Leg]:
    """The searcher's operations, in its units. A length without a unit counts epochs, as it always did."""
    searcher = core_context.searcher
    unit = searcher.get_configured_units()
    if unit is None:
        warnings.warn(
            "searcher.max_length has no unit and is taken for epochs; write {epochs: n} or {batches: n}",
            FutureWarning,
            stacklevel=2,
        )
    for operation in searcher.operations():
        yield _leg(operation, unit or core.Unit.EPOCHS, global_batch_size)


def length_of(config: JsonObject, global_batch_size: Callable[[], int]) -> TrainUnit:
    """A length as a config writes it: `{batches: 100}`, `{records: 6400}`, `{epochs: 2}`."""
    ((unit, value),) = config.items()
    if unit == "epochs":
        return Epoch(int(value))
    return Batch(int(value) if unit == "batches" else records_to_batches(int(value), global_batch_size()))


def records_to_batches(records: int, global_batch_size: int) -> int:
    return max(records // global_batch_size, 1)


def late_length(
    given: TrainUnit | None,
    searcher: JsonObject,
    global_batch_size: Callable[[], int],
    call: str,
    way_out: str = _IN_A_SCRIPT,
) -> TrainUnit:
    """Return what the script says, else what the config says.

    Args:
        given: by the script.
        searcher: the config's section.
        global_batch_size: asked only where a length counts records.
        call: who wants to know, for messages.
        way_out: where to put a length, for the message that there is none.

    Raises:
        ValueError: neither says it.
    """
    limit, unit = searcher.get("max_time"), _UNITS.get(str(searcher.get("time_metric")))
    if given is not None:
        length = check_length(given, call)
        if limit is not None and unit is not None and unit(int(limit)) != length:
            logger.warning(
                "%s trains for %s, but the searcher expects %s of %s; it compares trials at the wrong lengths",
                call,
                length,
                limit,
                searcher["time_metric"],
            )
        return length
    configured = searcher.get("max_length")
    if isinstance(configured, dict):
        return length_of(configured, global_batch_size)
    if isinstance(configured, int):
        return Epoch(configured)
    if limit is not None and unit is not None:
        return unit(int(limit))
    raise ValueError(f"{call} has no max_length, and neither has the searcher; {way_out}")


_UNITS: dict[str, type[TrainUnit]] = {"batches": Batch, "epochs": Epoch}


def _leg(operation: Operation, unit: core.Unit, global_batch_size: Callable[[], int]) -> Leg:
    if unit is core.Unit.BATCHES:
        return OperationLeg(operation, Batch(operation.length), lambda batches, _epoch: batches)
    if unit is core.Unit.EPOCHS:
        return OperationLeg(
            operation, Epoch(operation.length), lambda batches, epoch: float(batches / epoch) if epoch else 0
        )
    size = global_batch_size()
    return OperationLeg(
        operation, Batch(records_to_batches(operation.length, size)), lambda batches, _epoch: batches * size
    )
