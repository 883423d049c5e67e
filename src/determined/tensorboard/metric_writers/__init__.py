"""Writers of metrics for TensorBoard: with nothing, with PyTorch, with TensorFlow."""

from determined.tensorboard.factory import get_base_path
from determined.tensorboard.metric_writers.callback import BatchMetricWriter, MetricWriter
from determined.tensorboard.metric_writers.event_writer import EventWriter

__all__ = ["BatchMetricWriter", "EventWriter", "MetricWriter", "get_metric_writer"]


def get_metric_writer() -> BatchMetricWriter:
    """A writer into this task's event files. It needs neither TensorFlow nor PyTorch.

    Example:
        >>> writer = get_metric_writer()
        >>> writer.on_validation_step_end(100, {"accuracy": 0.9})
    """
    return BatchMetricWriter(EventWriter(get_base_path({})))
