"""Metric report as three generations of harnesses write it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from determined.errors import InvalidArgument
from determined.master.services.metric_profiler import as_report
from determined.master.services.parse_time import parse_time
from determined.wire.codec import camelize_keys
from determined.wire.metric import TrialProfilerMetricsBatch
from determined.wire.report import MetricReport


@dataclass(frozen=True, slots=True)
class Reported:
    run_id: int
    report: MetricReport


def reported(group: str, body: dict[str, Any], now: datetime) -> Reported:
    """`{trialRunId, stepsCompleted | latestBatch, reportTime?, metrics: {avgMetrics, batchMetrics?}}`, snake case too.

    The oldest form has the values directly in `metrics` and `batch_metrics` beside it.
    """
    fields = camelize_keys(body)
    values = fields.get("metrics")
    if not isinstance(values, dict):
        raise InvalidArgument("the report has no `metrics`")
    inner = camelize_keys(values)
    if isinstance(inner.get("avgMetrics"), dict):
        values, batch = inner["avgMetrics"], inner.get("batchMetrics")
    else:
        batch = fields.get("batchMetrics")
    steps = _integer(fields, "stepsCompleted", "latestBatch")
    run_id = _integer(fields, "trialRunId")
    when = _time(fields.get("reportTime")) or now
    report = MetricReport(group, steps, values, when.timestamp(), _batches(batch))
    return Reported(0 if run_id is None else run_id, report)


def profiled(batch: TrialProfilerMetricsBatch, now: datetime) -> list[MetricReport]:
    """Read a batch of the older profiler: values with their times."""
    times = [parse_time(text, "timestamps") or now for text in batch.timestamps]
    if len(times) != len(batch.values):
        raise InvalidArgument(f"the batch has {len(batch.values)} values but {len(times)} timestamps")
    pairs = zip(batch.values, times, strict=True)
    return [as_report(batch.labels, value, when.timestamp()) for value, when in pairs]


def _time(value: object) -> datetime | None:
    """Read a time as text, or as a number of seconds since the epoch."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, str | int | float)):
        raise InvalidArgument(f"reportTime={value!r} is not a time; write it like 2026-11-15T04:00:00Z")
    return parse_time(str(value), "reportTime") if value else None


def _integer(fields: dict[str, Any], *names: str) -> int | None:
    """int64 values may come as text."""
    name = next((n for n in names if fields.get(n) is not None), None)
    if name is None:
        return None
    value = fields[name]
    try:
        if isinstance(value, bool) or (isinstance(value, float) and value != int(value)):
            raise ValueError
        return int(value)
    except (ValueError, TypeError, OverflowError) as e:
        raise InvalidArgument(f"{name}={value!r} is not a whole number") from e


def _batches(value: Any) -> list[dict[str, Any]] | None:
    if value is None or value == []:
        return None
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
        raise InvalidArgument("batchMetrics must be a list of objects")
    return value
