"""DeterminedLogger: what `self.log` gives, reported as the trial's metrics."""

from argparse import Namespace
from typing import Any

from determined import core
from determined.lightning import _flavour
from determined.lightning._position import batches_trained, epochs_trained

_TRAINING, _VALIDATION, _TEST = "training", "validation", "test"
_POSITION = ("epoch", "step")  # Lightning's, which starts at 0 and has no fractions; ours are `epochs` and `batches`


class DeterminedLogger(*_flavour.bases("loggers.logger.Logger")):  # type: ignore[misc]
    """Give it to `Trainer(logger=...)`; the chief reports, every rank may have one.

    What is logged while validating is of group "validation", while testing of "test", else of "training"; `batches` and
    `epochs` are added.

    Args:
        core_context: of `core.init`, or `context.core` of `determined.lightning.init`.

    Example:
        >>> trainer = L.Trainer(logger=DeterminedLogger(core_context), log_every_n_steps=10)
    """

    def __init__(self, core_context: core.Context) -> None:
        super().__init__()
        self._core = core_context
        self._trainer: Any = None
        self._reported: dict[str, tuple[int, set[str]]] = {}

    @property
    def name(self) -> str:
        return "determined"

    @property
    def version(self) -> str:
        info = self._core.info
        return f"trial-{info.trial.trial_id}" if info is not None and info.task_type == "TRIAL" else "local"

    def follow(self, trainer: Any) -> None:
        """Know where training is; callbacks of this package say it."""
        self._trainer = trainer

    def log_metrics(self, metrics: dict[str, Any], step: int | None = None) -> None:
        """Lightning calls it, and `self.logger.log_metrics(...)` of a module does."""
        if self._core.distributed.rank != 0:
            return
        group, batches, position = self._place(metrics, step)
        last, names = self._reported.get(group, (-1, set()))
        names = names if last == batches else set()
        # A step is reported in parts, each name once.
        fresh = {name: value for name, value in metrics.items() if name not in names and name not in _POSITION}
        if fresh:
            told = {name: value for name, value in (position | fresh).items() if name not in names}
            self._core.train.report_metrics(group, batches, told)
            self._reported[group] = batches, names | set(told)

    def log_hyperparams(self, params: dict[str, Any] | Namespace, *args: Any, **kwargs: Any) -> None:
        """The trial has them already."""

    def _place(self, metrics: dict[str, Any], step: int | None) -> tuple[str, int, dict[str, Any]]:
        if self._trainer is None:
            group = _VALIDATION if any(name.startswith("val") for name in metrics) else _TRAINING
            return group, (step or 0) + 1, {}
        trainer = self._trainer
        batches = batches_trained(trainer)
        position = {"batches": batches, "epochs": epochs_trained(trainer)}
        if trainer.testing:
            return _TEST, batches, position
        return _VALIDATION if trainer.validating else _TRAINING, batches, position
