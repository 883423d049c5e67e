"""FollowedSearch: the searcher's wishes, for a training loop that belongs to a framework and only calls back."""

from collections.abc import Callable, Iterator

from determined import core
from determined._info import trial_of
from determined._json import JsonObject
from determined.search.generations import generation
from determined.trial._length import Leg, operation_legs
from determined.trial._periods import EpochLength, TrainUnit
from determined.trial._searcher_metric import Goal


class FollowedSearch:
    """Search that a framework's own loop follows: the length to train, and the metric to report. Call it on every rank.

    Where the searcher hands out no operations, and off cluster, the loop's own end is the only one.

    Args:
        core_context: operations come from there.
        global_batch_size: asked only where the searcher counts records.

    Example:
        >>> search = FollowedSearch(core_context, lambda: 32)
        >>> search.start()
        >>> while not search.is_over:
        ...     batches += train_one_epoch()
        ...     if search.is_due(batches, epoch_length):
        ...         search.complete(evaluate(), batches, epoch_length)
    """

    def __init__(self, core_context: core.Context, global_batch_size: Callable[[], int]) -> None:
        self._core = core_context
        self._is_chief = core_context.distributed.rank == 0
        config = trial_config(core_context)
        self._goal = Goal.of(config.get("searcher") or {})
        self.is_classic = bool(config) and generation(config) == "classic"
        self.is_over = False
        self._legs: Iterator[Leg] = operation_legs(core_context, global_batch_size) if self.is_classic else iter(())
        self._leg: Leg | None = None

    @property
    def until(self) -> TrainUnit | None:
        """The length of the operation in progress, as `Batch(n)` or `Epoch(n)`; None without one."""
        return None if self._leg is None else self._leg.until

    def start(self) -> None:
        """Ask for the first operation; once, before training. There is none left for a trial that was done before."""
        if self.is_classic and self._leg is None:
            self._go_on()

    def is_due(self, batches: int, epoch_length: EpochLength) -> bool:
        """Return whether it is time to validate, to save and to call `complete`."""
        return self._leg is not None and batches >= self._leg.batches(epoch_length)

    def report_progress(self, batches: int, epoch_length: EpochLength) -> None:
        """Report the progress of the operation at hand; nothing where there is none."""
        if self._leg is not None and self._is_chief:
            self._leg.report_progress(self._core, batches, epoch_length)

    def complete(self, metrics: JsonObject, batches: int, epoch_length: EpochLength) -> None:
        """Tell the searcher the validation's result, for each operation that asks for no more than is trained.

        Raises:
            RuntimeError: on the chief, where the metric it looks at is not among them, or is no number.
        """
        while self.is_due(batches, epoch_length) and self._leg is not None:
            self._leg.complete(self._goal.result(metrics) if self._is_chief else None, self._is_chief)
            self._go_on()

    def _go_on(self) -> None:
        self._leg = next(self._legs, None)
        self.is_over = self._leg is None


def trial_config(core_context: core.Context) -> JsonObject:
    """The config of the experiment this process trains for; {} where it is no trial."""
    info = trial_of(core_context.info)
    return {} if info is None else info.trial._config
