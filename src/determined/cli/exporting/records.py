"""Trials of an experiment as an export reads them: records page by page, reports of a trial at a time, lines."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from determined._json import JsonObject
from determined.api import task
from determined.api.paging import pages
from determined.api.session import Session
from determined.bundle.columns import Report, plain
from determined.bundle.layout import LogEntry
from determined.wire.experiment import ExperimentState
from determined.wire.log import LogLevel, LogQuery, TaskLogsResponse
from determined.wire.metric import STREAM_METRICS, MetricsReport, StreamMetrics
from determined.wire.trial_record import LIST_TRIAL_RECORDS, ListTrialRecords, TrialRecord

_RECORDS = 10  # of a page: each may carry the file lists of many checkpoints
_TRIALS = 50  # of a stream of metrics
_RUNNING = frozenset({"QUEUED", "PULLING", "STARTING", "RUNNING"})  # as what is ACTIVE is shown


def trials(session: Session, experiment_id: int, *, hashes: bool = False) -> Iterator[TrialRecord]:
    """Yield the trials of an experiment by id. `hashes`: their checkpoints with those of the files."""
    params = ListTrialRecords(limit=_RECORDS, hashes=hashes or None)
    for page in pages(session, LIST_TRIAL_RECORDS, params, experiment_id=experiment_id):
        yield from page.trials


def reports(session: Session, trial_ids: Sequence[int], group: str) -> Iterator[list[Report]]:
    """Yield the reports of each trial in a group that charts show, by run and step. Trials without any are left out."""
    for _, trial_reports in groupby(_rows(session, trial_ids, group), key=lambda report: report.trial):
        yield sorted(trial_reports, key=lambda report: (report.run, report.step))


def lines(session: Session, task_id: str) -> Iterator[LogEntry]:
    """Yield the lines of a task's log."""
    for line in task.logs(session, task_id, LogQuery(limit=0)):
        yield _line(line)


def stored_state(shown: ExperimentState) -> str:
    """Return the state that the master stores for one that it shows."""
    bare = shown.removeprefix("STATE_")
    return "ACTIVE" if bare in _RUNNING else bare


def _rows(session: Session, trial_ids: Sequence[int], group: str) -> Iterator[Report]:
    for start in range(0, len(trial_ids), _TRIALS):
        params = StreamMetrics(trial_ids=list(trial_ids[start : start + _TRIALS]), group=group)
        for answer in session.follow(STREAM_METRICS, params):
            yield from map(_report, answer.metrics)


def _report(row: MetricsReport) -> Report:
    values: JsonObject = row.metrics.get("avg_metrics") or row.metrics.get("validation_metrics") or {}
    batches = row.metrics.get("batch_metrics")
    return Report(row.trial_id, row.trial_run_id, row.total_batches, row.end_time, plain(values), plain(batches))


def _line(line: TaskLogsResponse) -> LogEntry:
    return LogEntry(
        time=line.timestamp,
        text=line.log,
        level=None if line.level is LogLevel.UNSPECIFIED else line.level.removeprefix("LOG_LEVEL_"),
        stdtype=line.stdtype or "stdout",
        rank=line.rank_id,
        source=line.source or "task",
        allocation=line.allocation_id,
        container=line.container_id,
        agent=line.agent_id,
    )
