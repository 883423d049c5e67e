"""DeterminedSearch: trains for as long as the searcher says, tells it how good the model became, and shows progress."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from determined import core
from determined._json import JsonObject
from determined.errors import InvalidExperimentException
from determined.lightning._callback import SEARCH, DeterminedCallback
from determined.lightning._checkpoint import checkpoint_of
from determined.lightning._flavour import leave_fit
from determined.lightning._position import batches_trained, epoch_length
from determined.search.generations import generation
from determined.trial import Batch, Goal, Leg, OperationLeg, one_leg, operation_legs, trial_config

if TYPE_CHECKING:
    from lightning.pytorch import LightningModule, Trainer

_PARTS = 20  # progress is told so often
_PERIODS = ("check_val_every_n_epoch", "val_check_batch", "_val_check_time_interval")


class DeterminedSearch(DeterminedCallback):
    """Search for a fit. Where the master hands out lengths (`searcher.max_length`), or `train_batches` gave one, a fit
    without an end of its own is ended by them, each with a validation and a checkpoint; elsewhere it only shows how
    much of the Trainer's own length is done.

    Args:
        core_context: of `core.init`, or `context.core` of `determined.lightning.init`.

    Raises:
        InvalidExperimentException: in `trainer.fit`, a Trainer without a DeterminedCheckpoint, or epochs to be counted
            of data without a length.
    """

    _place = SEARCH

    def __init__(self, core_context: core.Context) -> None:
        super().__init__(core_context)
        self._config = trial_config(core_context)
        self._goal = Goal.of(self._config.get("searcher") or {})
        self.is_classic = bool(self._config) and generation(self._config) == "classic"
        self._length: Batch | None = None
        self._legs: Iterator[Leg] = iter(())
        self._leg: Leg | None = None
        self._validated: JsonObject = {}
        self._periods: JsonObject | None = None
        self._reported_part = -1

    def train_batches(self, length: Batch) -> None:
        """End a fit after so many, whatever its optimizers do: Lightning's `max_steps` counts the steps of each."""
        self._length = length

    def setup(self, trainer: "Trainer", pl_module: "LightningModule", stage: str) -> None:
        checkpoint_of(trainer, "DeterminedSearch")
        super().setup(trainer, pl_module, stage)

    def state_dict(self) -> JsonObject:
        return {"validated": self._validated}

    def load_state_dict(self, state_dict: JsonObject) -> None:
        self._validated = state_dict["validated"]

    def on_train_start(self, trainer: "Trainer", pl_module: "LightningModule") -> None:
        if self._is_chief:
            self._core.train.set_status("training")
        self._legs = self._asked_for()
        self._leg = next(self._legs, None)
        if self._leg is not None and self._leg.batches(epoch_length(trainer)) == math.inf:
            raise InvalidExperimentException(
                f"training lasts {self._leg.until!r}, but the training data has no length; give searcher.max_length in "
                "batches"
            )

    def on_train_batch_end(
        self, trainer: "Trainer", pl_module: "LightningModule", outputs: object, batch: object, batch_idx: int
    ) -> None:
        self._show_progress(trainer)
        if self._is_at_end(trainer):
            checkpoint_of(trainer, "DeterminedSearch").request()
            self._force_validation(trainer, batch_idx)

    def on_validation_start(self, trainer: "Trainer", pl_module: "LightningModule") -> None:
        if self._is_chief and not trainer.sanity_checking:
            self._core.train.set_status("validating")

    def on_validation_end(self, trainer: "Trainer", pl_module: "LightningModule") -> None:
        if trainer.sanity_checking or trainer.state.fn != "fit":
            return
        self._restore_periods(trainer)
        values = {name: float(value) for name, value in trainer.callback_metrics.items()}
        self._validated = {"batches": batches_trained(trainer), "metrics": values}
        if self._is_chief:
            self._core.train.set_status("training")

    def on_train_batch_start(
        self, trainer: "Trainer", pl_module: "LightningModule", batch: object, batch_idx: int
    ) -> None:
        if not self.is_classic and self._length is None:
            return
        self._restore_periods(trainer)
        while self._leg is not None and self._is_at_end(trainer):
            if checkpoint_of(trainer, "DeterminedSearch").is_due():
                return  # gradients are being added up: it is saved a few batches later
            self._complete(trainer)
        if self._leg is None:
            trainer.fit_loop.on_run_end()  # `on_train_end` of everybody
            leave_fit(trainer)

    def _asked_for(self) -> Iterator[Leg]:
        if self.is_classic:
            return operation_legs(self._core, self._global_batch_size)
        return iter(()) if self._length is None else one_leg(self._length)

    def _complete(self, trainer: "Trainer") -> None:
        assert self._leg is not None
        wants_metric = self._is_chief and isinstance(self._leg, OperationLeg)
        self._leg.complete(self._goal.result(self._metrics(trainer)) if wants_metric else None, self._is_chief)
        self._leg = next(self._legs, None)

    def _metrics(self, trainer: "Trainer") -> JsonObject:
        if self._validated.get("batches") == batches_trained(trainer):
            return dict(self._validated["metrics"])
        return {name: float(value) for name, value in trainer.callback_metrics.items()}  # there is no validation

    def _is_at_end(self, trainer: "Trainer") -> bool:
        return self._leg is not None and batches_trained(trainer) >= self._leg.batches(epoch_length(trainer))

    def _force_validation(self, trainer: "Trainer", batch_idx: int) -> None:
        """Have Lightning validate after this batch, whatever its own periods are."""
        if trainer.enable_validation and self._periods is None:
            self._periods = {name: getattr(trainer, name) for name in _PERIODS}
            trainer.check_val_every_n_epoch, trainer.val_check_batch = 1, batch_idx + 1
            trainer._val_check_time_interval = None

    def _restore_periods(self, trainer: "Trainer") -> None:
        if self._periods is not None:
            for name, value in self._periods.items():
                setattr(trainer, name, value)
            self._periods = None

    def _show_progress(self, trainer: "Trainer") -> None:
        if not self._is_chief:
            return
        batches = batches_trained(trainer)
        total = self._leg.batches(epoch_length(trainer)) if self._leg is not None else _whole_length(trainer)
        if total == math.inf or (part := int(batches * _PARTS // total)) == self._reported_part:
            return
        self._reported_part = part
        if self._leg is not None:
            self._leg.report_progress(self._core, batches, epoch_length(trainer))
        else:
            self._core.train.report_progress(min(batches / total, 1.0))

    def _global_batch_size(self) -> int:
        hparams = self._config.get("hyperparameters") or {}
        info = self._core.info
        batch_size = info.trial.hparams.get("global_batch_size") if info is not None else None
        if batch_size is None:
            raise ValueError(
                f"searcher.max_length counts records, and the hyperparameters {sorted(hparams)} have no "
                "global_batch_size to divide them by; add it, or count batches or epochs"
            )
        return int(batch_size)


def _whole_length(trainer: "Trainer") -> float:
    """Batches until the Trainer's own end, as far as it can be told."""
    length, epochs, steps = epoch_length(trainer), trainer.max_epochs, trainer.max_steps
    by_epochs = length * epochs if length is not None and epochs not in (None, -1) else math.inf
    by_steps = steps * trainer.accumulate_grad_batches if steps not in (None, -1) else math.inf
    return float(min(by_epochs, by_steps) or math.inf)
