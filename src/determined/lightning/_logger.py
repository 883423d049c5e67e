"""DeterminedLogger: what `self.log` gives, reported as the trial's metrics."""

from argparse import Namespace
from typing import TYPE_CHECKING

from determined import core
from determined._info import trial_of
from determined._json import JsonObject
from determined.lightning import _flavour
from determined.lightning._position import batches_trained, epochs_trained

if TYPE_CHECKING:
    from lightning.pytorch import Trainer

_TRAINING, _VALIDATION, _TEST = "training", "validation", "test"
_POSITION = ("epoch", "step")  # Lightning's, which starts at 0 and has no fractions; ours are `epochs` and `batches`


class DeterminedLogger(*_flavour.bases("loggers.logger.Logger")):  # type: ignore[misc]
    """Give it to `Trainer(logger=...)`; the chief reports, every rank may have one.

    What is logged while validating is of group "validation", while testing of "test", else of "training"; `batches` and
    `epochs` are added. A validation is reported when it is over, in one piece. Without a DeterminedCheckpoint beside it
    the logger does not know where training is: then names that begin with "val" are of "validation".

    Args:
        core_context: of `core.init`, or `context.core` of `determined.lightning.init`.

    Example:
        >>> trainer = L.Trainer(logger=DeterminedLogger(core_context), log_every_n_steps=10)
    """

    def __init__(self, core_context: core.Context) -> None:
        super().__init__()
        self._core = core_context
        self._trainer: Trainer = None
        self._reported: dict[str, tuple[int, set[str]]] = {}
        self._validation: JsonObject = {}
        self._validated_at = 0

    @property
    def name(self) -> str:
        return "determined"

    @property
    def version(self) -> str:
        info = trial_of(self._core.info)
        return "local" if info is None else f"trial-{info.trial.trial_id}"

    def follow(self, trainer: "Trainer") -> None:
        """Know where training is; callbacks of this package say it."""
        self._trainer = trainer

    def end_validation(self) -> None:
        """Report what was logged while validating; the callbacks of this package say when. A search that hears of a
        part first would take it for a validation that lacks the metric it compares."""
        metrics, self._validation = self._validation, {}
        self._report(_VALIDATION, self._validated_at, metrics)

    def log_metrics(self, metrics: JsonObject, step: int | None = None) -> None:
        """Lightning calls it, and `self.logger.log_metrics(...)` of a module does."""
        if self._core.distributed.rank != 0:
            return
        named = {name: value for name, value in metrics.items() if name not in _POSITION}
        if self._trainer is None:
            group = _VALIDATION if any(name.startswith("val") for name in named) else _TRAINING
            self._report(group, (step or 0) + 1, named)
            return
        if self._trainer.sanity_checking or not named:
            return
        batches = batches_trained(self._trainer)
        named = {"batches": batches, "epochs": epochs_trained(self._trainer)} | named
        if self._trainer.validating:
            self._validation, self._validated_at = self._validation | named, batches
        else:
            self._report(_TEST if self._trainer.testing else _TRAINING, batches, named)

    def log_hyperparams(self, params: JsonObject | Namespace, *args: object, **kwargs: object) -> None:
        """The trial has them already."""

    def _report(self, group: str, batches: int, metrics: JsonObject) -> None:
        """A step is reported in parts, each name once."""
        last, names = self._reported.get(group, (-1, set()))
        names = names if last == batches else set()
        fresh = {name: value for name, value in metrics.items() if name not in names}
        if fresh:
            self._core.train.report_metrics(group, batches, fresh)
            self._reported[group] = batches, names | set(fresh)
