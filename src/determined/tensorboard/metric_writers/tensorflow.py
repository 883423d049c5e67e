"""TFWriter: numbers for TensorBoard through TensorFlow's own writer."""

from typing import TYPE_CHECKING

from determined._imports import load_optional
from determined.tensorboard.factory import get_base_path
from determined.tensorboard.metric_writers.callback import MetricWriter

if TYPE_CHECKING:
    import tensorflow as tf


class TFWriter(MetricWriter):
    """Opens its file when there is something to write.

    Example:
        >>> TFWriter().add_scalar("lr", 0.1, 10)
    """

    def __init__(self) -> None:
        self._tensorflow = load_optional("tensorflow", extra="tensorflow")
        self._writer: tf.summary.SummaryWriter = None

    def add_scalar(self, name: str, value: float, step: int) -> None:
        if self._writer is None:
            self._writer = self._tensorflow.summary.create_file_writer(str(get_base_path({})))
        with self._tensorflow.init_scope(), self._writer.as_default():
            self._tensorflow.summary.scalar(name, value, step=step)

    def reset(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def flush(self) -> None:
        if self._writer is not None:
            self._writer.flush()
