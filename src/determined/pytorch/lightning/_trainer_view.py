"""`self.trainer` of an adapted module: position of the training, and rank of the process."""

from typing import TYPE_CHECKING, Any

from determined.errors import InvalidModelException
from determined.pytorch._context import PyTorchTrialContext
from determined.pytorch.lightning._module_logger import ModuleLogger

if TYPE_CHECKING:
    from lightning.pytorch import LightningModule


class TrainerView:
    """Answers as Lightning's Trainer would; what there is no Trainer for is refused."""

    datamodule = None
    barebones = False
    sanity_checking = False
    testing = False
    predicting = False
    fast_dev_run = False

    def __init__(self, module: "LightningModule", context: PyTorchTrialContext) -> None:
        self._module = module
        self._context = context
        self.logger = ModuleLogger(context)
        self.loggers = [self.logger]

    @property
    def current_epoch(self) -> int:
        return self._context.current_train_epoch() if self._has_begun() else 0

    @property
    def global_step(self) -> int:
        """Steps of the optimizer before this batch."""
        batch = self._context.current_train_batch() if self._has_begun() else self._context.get_initial_batch()
        return batch // self._context._aggregation_frequency * len(self._context.optimizers)

    @property
    def optimizers(self) -> list[Any]:
        return self._context.optimizers

    @property
    def training(self) -> bool:
        return bool(self._module.training)

    @property
    def validating(self) -> bool:
        return not self._module.training

    @property
    def is_global_zero(self) -> bool:
        return self._context.distributed.rank == 0

    @property
    def global_rank(self) -> int:
        return self._context.distributed.rank

    @property
    def local_rank(self) -> int:
        return self._context.distributed.local_rank

    @property
    def world_size(self) -> int:
        return self._context.distributed.size

    @property
    def num_nodes(self) -> int:
        return self._context.distributed.cross_size

    def _has_begun(self) -> bool:
        return self._context._current_batch_idx is not None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise InvalidModelException(
            f"the module asks for trainer.{name}, and LightningAdapter has no Trainer; ask the trial's context, or "
            "train with Lightning's own Trainer and `determined.lightning`"
        )
