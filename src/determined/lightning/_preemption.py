"""DeterminedPreemption: leaves training with a checkpoint when the cluster wants the slots back."""

from typing import TYPE_CHECKING

from determined import core
from determined.lightning._callback import PREEMPTION, DeterminedCallback
from determined.lightning._checkpoint import checkpoint_of
from determined.lightning._flavour import leave_fit

if TYPE_CHECKING:
    from lightning.pytorch import LightningModule, Trainer


class DeterminedPreemption(DeterminedCallback):
    """Asks after every batch. On a yes `trainer.fit` returns before the next batch, with everything saved.

    Args:
        core_context: of `core.init`, or `context.core` of `determined.lightning.init`.

    Attributes:
        is_preempted: training was left; what follows `trainer.fit` in a script should wait for another time.

    Raises:
        InvalidExperimentException: in `trainer.fit`, a Trainer without a DeterminedCheckpoint.

    Example:
        >>> preemption = DeterminedPreemption(core_context)
        >>> L.Trainer(callbacks=[DeterminedCheckpoint(core_context), preemption]).fit(model)
        >>> if not preemption.is_preempted:
        ...     export(model)
    """

    _place = PREEMPTION

    def __init__(self, core_context: core.Context) -> None:
        super().__init__(core_context)
        self._is_asked = False
        self.is_preempted = False

    def setup(self, trainer: "Trainer", pl_module: "LightningModule", stage: str) -> None:
        checkpoint_of(trainer, "DeterminedPreemption")
        super().setup(trainer, pl_module, stage)

    def on_train_start(self, trainer: "Trainer", pl_module: "LightningModule") -> None:
        if self._core.preempt.should_preempt():  # nothing was trained that is not saved
            self._leave(trainer)

    def on_train_batch_end(
        self, trainer: "Trainer", pl_module: "LightningModule", outputs: object, batch: object, batch_idx: int
    ) -> None:
        if self._core.preempt.should_preempt():  # every rank hears the chief's answer
            self._is_asked = True
            checkpoint_of(trainer, "DeterminedPreemption").request()

    def on_train_batch_start(
        self, trainer: "Trainer", pl_module: "LightningModule", batch: object, batch_idx: int
    ) -> None:
        if self._is_asked and not checkpoint_of(trainer, "DeterminedPreemption").is_due():
            self._leave(trainer)

    def _leave(self, trainer: "Trainer") -> None:
        self.is_preempted = True
        self._core.checkpoint._wait()
        leave_fit(trainer)
