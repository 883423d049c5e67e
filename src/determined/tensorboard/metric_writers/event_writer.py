"""EventWriter: numbers for TensorBoard without TensorBoard, TensorFlow or PyTorch."""

import time
from pathlib import Path

from determined.tensorboard.event_file import EventFile
from determined.tensorboard.metric_writers.callback import MetricWriter


class EventWriter(MetricWriter):
    """Opens its file when there is something to write."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._file: EventFile | None = None

    def add_scalar(self, name: str, value: float, step: int) -> None:
        moment = time.time()
        if self._file is None:
            self._file = EventFile(self._directory, moment)
        self._file.add_scalars(step, moment, {name: float(value)})

    def reset(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()
