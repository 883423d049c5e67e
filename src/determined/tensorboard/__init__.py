"""TensorBoard event files: written without TensorBoard, and copied to the checkpoint store while they grow."""

from determined.tensorboard.event_file import EventFile
from determined.tensorboard.manager import TensorboardManager, event_prefix
from determined.tensorboard.metric_events import MetricEvents

__all__ = ["EventFile", "MetricEvents", "TensorboardManager", "event_prefix"]
