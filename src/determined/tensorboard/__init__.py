"""TensorBoard event files: written without TensorBoard, and copied to the checkpoint store while they grow."""

from determined.tensorboard.event_file import EventFile
from determined.tensorboard.factory import (
    build,
    claim_directory,
    get_base_path,
    get_experiment_sync_path,
    get_sync_path,
)
from determined.tensorboard.manager import TensorboardManager, event_prefix
from determined.tensorboard.metric_events import MetricEvents
from determined.tensorboard.metric_writers import BatchMetricWriter, MetricWriter, get_metric_writer

__all__ = [
    "BatchMetricWriter",
    "EventFile",
    "MetricEvents",
    "MetricWriter",
    "TensorboardManager",
    "build",
    "claim_directory",
    "event_prefix",
    "get_base_path",
    "get_experiment_sync_path",
    "get_metric_writer",
    "get_sync_path",
]
