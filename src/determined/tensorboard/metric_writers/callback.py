"""MetricWriter, which puts down numbers, and BatchMetricWriter, which takes what a trial reports to pieces."""

import numbers
from abc import ABC, abstractmethod

from determined._json import JsonObject
from determined.tensorboard.tags import tag_of


class MetricWriter(ABC):
    """Writes numbers of a step."""

    @abstractmethod
    def add_scalar(self, name: str, value: float, step: int) -> None:
        """Write a number."""

    @abstractmethod
    def reset(self) -> None:
        """Write what follows into another file."""

    @abstractmethod
    def flush(self) -> None:
        """Readers see what was written."""


class BatchMetricWriter:
    """Writer of reported metrics as numbers of TensorBoard, under the names that core gives them.

    What is written is flushed at once. Event files may grow after they were copied: they are copied again.
    """

    def __init__(self, writer: MetricWriter) -> None:
        self.writer = writer

    def on_train_step_end(
        self,
        steps_completed: int,
        metrics: JsonObject,
        batch_metrics: list[JsonObject] | None = None,
    ) -> None:
        """Averages at `steps_completed`; those of single batches at their own steps before it."""
        batches = batch_metrics or []
        for index, batch in enumerate(batches):
            self._add("training", steps_completed - len(batches) + index, batch)
        self._add("training", steps_completed, metrics)
        self.writer.flush()

    def on_validation_step_end(self, steps_completed: int, metrics: JsonObject) -> None:
        self._add("validation", steps_completed, metrics)
        self.writer.flush()

    def _add(self, group: str, step: int, metrics: JsonObject) -> None:
        for name, value in metrics.items():
            if _is_number(value):
                self.writer.add_scalar(tag_of(group, name), value, step)


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
