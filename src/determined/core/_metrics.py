"""Metric reports: checked, made plain, appended to the journal. This is the call in the training loop: every
microsecond counts, so plain numbers skip all conversion."""

import logging
import operator
import time
from collections.abc import Callable
from typing import Any

from determined.core._reporter import Reporter
from determined.wire.codec import to_msgpack
from determined.wire.report import MetricReport
from determined.wire.userdata import to_plain

logger = logging.getLogger("determined.core")

VALIDATION = "validation"
_PLAIN = frozenset({float, int})


class MetricsContext:
    """Where train and profiler contexts report. `listener` gets group, time and the encoded report (TensorBoard)."""

    def __init__(self, reporter: Reporter, listener: Callable[[str, float, bytes], None] | None = None) -> None:
        self._append = reporter.append
        self._listener = listener
        self._groups: set[str] = set()

    def report(
        self,
        group: str,
        steps_completed: int | None,
        metrics: dict[str, Any],
        batch_metrics: list[dict[str, Any]] | None = None,
    ) -> None:
        if group not in self._groups:
            self._groups.add(checked_group(group))
        if type(steps_completed) is not int and steps_completed is not None:
            steps_completed = operator.index(steps_completed)
        if not is_plain(metrics):
            metrics = plain_metrics(group, metrics)
        if batch_metrics is not None:
            batch_metrics = [plain_metrics("training", batch) for batch in batch_metrics]
        record = MetricReport(group, steps_completed, metrics, time.time(), batch_metrics)
        try:
            payload = to_msgpack(record)
        except OverflowError:  # an int of more than 64 bits
            record.metrics = plain_metrics(group, metrics)
            payload = to_msgpack(record)
        self._append(payload)
        if self._listener is not None:
            self._listener(group, record.time, payload)


def checked_group(group: str) -> str:
    if not isinstance(group, str) or not group or "." in group:
        raise ValueError(f"metric group {group!r} is not allowed; give a non-empty name without '.'")
    return group


def is_plain(metrics: dict[str, Any]) -> bool:
    """Whether the wire takes `metrics` as they are. False for anything `plain_metrics` has to look at."""
    if type(metrics) is not dict:
        return False
    for name, value in metrics.items():  # noqa: SIM110  a generator in all() takes twice as long
        if type(value) not in _PLAIN or type(name) is not str:
            return False
    return True


def plain_metrics(group: str, metrics: dict[str, Any]) -> dict[str, Any]:
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


def _is_dropped(name: str, value: Any) -> bool:
    if value is None:
        raise RuntimeError(f"validation metric {name!r} is None; leave it out or report a number")
    if not isinstance(value, bytes | bytearray):
        return False
    logger.warning("validation metric %r is bytes and is dropped; report numbers or text", name)
    return True
