"""Reports of a tracked trial as series of rows, one per group, in the order of their steps. Pure."""

from datetime import datetime

from determined.master.db.metric_chunk import Row
from determined.master.importing.clean import clean_metrics, clean_text
from determined.master.importing.tracked import TrackedTrial

_LARGEST = 2**63


def series_of(trial: TrackedTrial, now: datetime) -> dict[str, list[Row]]:
    """Join reports of one step and group; the later value and time win. A step that no column holds is left out."""
    groups: dict[str, dict[int, Row]] = {}
    default = (trial.started_at or now).timestamp()
    for report in trial.reports():
        if not report.metrics or not -_LARGEST <= report.step < _LARGEST:
            continue
        rows = groups.setdefault(clean_text(report.group).replace(".", "_"), {})
        time = report.time.timestamp() if report.time else default
        metrics = clean_metrics(report.metrics)
        known = rows.get(report.step)
        rows[report.step] = Row(report.step, time, {**known.metrics, **metrics} if known else metrics)
    return {group: [rows[step] for step in sorted(rows)] for group, rows in groups.items()}
