"""TorchWriter: numbers for TensorBoard through PyTorch's SummaryWriter, which takes much more than numbers."""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from determined._imports import load_optional
from determined.tensorboard.factory import get_base_path
from determined.tensorboard.metric_writers.callback import MetricWriter

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


class TorchWriter(MetricWriter):
    """Older trials use it for images and histograms, too.

    Attributes:
        writer: the `torch.utils.tensorboard.SummaryWriter`.

    Example:
        >>> TorchWriter().writer.add_histogram("weights", weights, global_step=1)
    """

    def __init__(self) -> None:
        load_optional("torch", extra="torch")
        self.writer: SummaryWriter = _module().SummaryWriter(log_dir=str(get_base_path({})))

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.writer.add_scalar(name, value, step)

    def reset(self) -> None:
        self.writer.close()  # it opens another file when it is written to

    def flush(self) -> None:
        self.writer.flush()


def _module() -> ModuleType:
    try:
        return importlib.import_module("torch.utils.tensorboard")
    except ModuleNotFoundError as err:
        raise ImportError(
            "TorchWriter needs TensorBoard, which is not installed; run: pip install tensorboard", name=err.name
        ) from err
