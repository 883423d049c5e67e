"""Metric report as users see it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from determined.api import trial
from determined.api.session import Session
from determined.sdk.deprecation import warn_deprecated
from determined.wire.metric import MetricsReport


@dataclass
class TrialMetrics:
    """Metrics that a trial reported at one step."""

    trial_id: int
    trial_run_id: int
    steps_completed: int
    end_time: datetime
    metrics: dict[str, Any]
    group: str
    batch_metrics: list[dict[str, Any]] | None = None

    @property
    def total_batches(self) -> int:
        return self.steps_completed


class TrainingMetrics(TrialMetrics):
    """Deprecated: TrialMetrics of the group "training"."""

    def __init__(self, *, total_batches: int | None = None, group: str = "training", **fields: Any) -> None:
        warn_deprecated("TrainingMetrics", "TrialMetrics")
        super().__init__(group=group, **_with_steps(fields, total_batches))


class ValidationMetrics(TrialMetrics):
    """Deprecated: TrialMetrics of the group "validation"."""

    def __init__(self, *, total_batches: int | None = None, group: str = "validation", **fields: Any) -> None:
        warn_deprecated("ValidationMetrics", "TrialMetrics")
        super().__init__(group=group, **_with_steps(fields, total_batches))


def iter_metrics(session: Session, trial_ids: list[int], group: str) -> Iterator[TrialMetrics]:
    """Yield every report of the group, trial by trial, as it comes from the master."""
    for report in trial.metrics(session, trial_ids, group):
        yield from_wire(report)


def from_wire(report: MetricsReport) -> TrialMetrics:
    key = "validation_metrics" if report.group == "validation" else "avg_metrics"
    return TrialMetrics(
        trial_id=report.trial_id,
        trial_run_id=report.trial_run_id,
        steps_completed=report.total_batches,
        end_time=datetime.fromisoformat(report.end_time).replace(microsecond=0),
        metrics=report.metrics[key],
        group=report.group,
        batch_metrics=report.metrics.get("batch_metrics"),
    )


def _with_steps(fields: dict[str, Any], total_batches: int | None) -> dict[str, Any]:
    return fields if total_batches is None else {**fields, "steps_completed": total_batches}
