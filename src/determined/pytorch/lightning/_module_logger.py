"""`self.logger` of an adapted module: a writer for TensorBoard, as Lightning's own default is."""

from typing import Any

from determined._json import JsonObject
from determined.pytorch._context import PyTorchTrialContext


class ModuleLogger:
    """Answers as Lightning's TensorBoardLogger does. What it is given is written, and not reported: `self.log` is."""

    name = "determined"
    version = "trial"

    def __init__(self, context: PyTorchTrialContext) -> None:
        self._context = context

    @property
    def experiment(self) -> Any:
        """The trial's SummaryWriter; on ranks other than the chief something that takes every call and writes none."""
        return self._context.get_tensorboard_writer() if self._context.distributed.rank == 0 else _Silent()

    @property
    def save_dir(self) -> str:
        return str(self._context.get_tensorboard_path())

    log_dir = root_dir = save_dir

    def log_metrics(self, metrics: JsonObject, step: int | None = None) -> None:
        for name, value in metrics.items():
            if isinstance(value, dict):
                self.log_metrics({f"{name}/{part}": each for part, each in value.items()}, step)
            else:
                self.experiment.add_scalar(name, float(value), step)

    def log_hyperparams(self, *_params: object, **_options: object) -> None:
        """The trial has them already."""

    def __deepcopy__(self, memo: dict[int, object]) -> "ModuleLogger":
        """A copy of the module writes to the same place."""
        return self


class _Silent:
    def __getattr__(self, _name: str) -> Any:
        return lambda *_arguments, **_options: None
