"""Metric reports: checked, made plain, appended to the journal. This is the call in the training loop: every
microsecond counts, so plain numbers skip all conversion."""

import logging
import operator
import time
from collections.abc import Callable

from determined._json import JsonObject
from determined.core._reporter import Reporter
from determined.tensorboard import MetricEvents
from determined.wire.codec import to_msgpack
from determined.wire.userdata import to_plain

logger = logging.getLogger("determined.core")

VALIDATION = "validation"
_TAG = "metric"
_now = time.time


class MetricsContext:
    """Metric reports of train and profiler contexts. They also go to `events` (TensorBoard), if there are any.

    `report` does all it can in its own body: between two steps of a training the processor's caches fill with other
    things, and each function called then costs a microsecond or two whatever it does.
    """

    def __init__(self, reporter: Reporter, events: MetricEvents | None = None) -> None:
        self._reporter = reporter
        self._append: Callable[[bytes], int] | None = None
        self._events = events
        self._groups: set[str] = set()

    def report(
        self,
        group: str,
        steps_completed: int | None,
        metrics: JsonObject,
        batch_metrics: list[JsonObject] | None = None,
    ) -> None:
        if group not in self._groups:
            self._groups.add(checked_group(group))
        if type(steps_completed) is not int and steps_completed is not None:
            steps_completed = operator.index(steps_completed)
        if type(metrics) is not dict:
            metrics = plain_metrics(group, metrics)
        for name, value in metrics.items():
            if (type(value) is not float and type(value) is not int) or type(name) is not str:
                metrics = plain_metrics(group, metrics)
                break
        if batch_metrics is not None:
            batch_metrics = [plain_metrics("training", batch) for batch in batch_metrics]
        moment = _now()
        try:  # a wire.report.MetricReport, without building one
            payload = to_msgpack((_TAG, group, steps_completed, metrics, moment, batch_metrics))
        except OverflowError:  # an int of more than 64 bits
            metrics = plain_metrics(group, metrics)
            payload = to_msgpack((_TAG, group, steps_completed, metrics, moment, batch_metrics))
        try:
            (self._append or self._open())(payload)
        except OSError as err:
            raise self._reporter.explained(err) from err
        events = self._events
        if events is None:
            return
        if moment < events.due.get(group, 0.0):
            events.newest[group] = payload
        else:
            events.add(group, moment, payload)

    def _open(self) -> Callable[[bytes], int]:
        self._append = self._reporter.open().append
        return self._append


def checked_group(group: str) -> str:
    if not isinstance(group, str) or not group or "." in group:
        raise ValueError(f"metric group {group!r} is not allowed; give a non-empty name without '.'")
    return group


def plain_metrics(group: str, metrics: JsonObject) -> JsonObject:
    """Tensors, arrays and numpy scalars as numbers and lists.

    Raises:
        TypeError: not a dict, or a value nobody can report.
        RuntimeError: None among validation metrics.
    """
    if not isinstance(metrics, dict):
        raise TypeError(f"metrics must be a dict of names to values, got {type(metrics).__name__}")
    kept = metrics
    if group == VALIDATION:
        kept = {name: value for name, value in metrics.items() if not _is_dropped(name, value)}
    return {str(name): to_plain(value) for name, value in kept.items()}


def _is_dropped(name: str, value: object) -> bool:
    if value is None:
        raise RuntimeError(f"validation metric {name!r} is None; leave it out or report a number")
    if not isinstance(value, bytes | bytearray):
        return False
    logger.warning("validation metric %r is bytes and is dropped; report numbers or text", name)
    return True
