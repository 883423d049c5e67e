"""Reports of a tracked trial as series of rows, one per group, in the order of their steps. Pure."""

from datetime import datetime

from determined.master.db.metric_chunk import Row
from determined.master.importing.clean import clean_metrics, clean_text
from determined.master.importing.notes import Outcome, Rule, Tally
from determined.master.importing.tracked import TrackedTrial

STEPS = Rule("steps", Outcome.LEFT_OUT, "Reports at steps below 0 or from 2^62 on: no run here can have them.")
_MOST_STEP = 2**62  # as for reports of tasks; a first step of -1 means that a series has no steps


def series_of(trial: TrackedTrial, now: datetime, tally: Tally | None = None) -> dict[str, list[Row]]:
    """Join reports of one step and group; the later value and time win. `tally` hears of those that are left out."""
    groups: dict[str, dict[int, Row]] = {}
    default = (trial.started_at or now).timestamp()
    for report in trial.reports():
        if not report.metrics:
            continue
        if not 0 <= report.step < _MOST_STEP:
            if tally is not None:
                tally.add_many(STEPS, 1, f"run {trial.external_id}, {report.group}, step {report.step}")
            continue
        rows = groups.setdefault(clean_text(report.group).replace(".", "_"), {})
        time = report.time.timestamp() if report.time else default
        metrics = clean_metrics(report.metrics)
        earlier = rows.get(report.step)
        rows[report.step] = Row(report.step, time, {**earlier.metrics, **metrics} if earlier else metrics)
    return {group: [rows[step] for step in sorted(rows)] for group, rows in groups.items()}
