"""Effect of each record of a journal.

Log lines and metrics are written in runs; records that decide about the task's life are applied after everything the
process said before them.
"""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import cast

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from determined.errors import CheckpointNotStored, DeterminedError, Unavailable
from determined.master.db import dialects
from determined.master.db.prepared import Savepoint
from determined.master.db.queries import log as log_queries
from determined.master.db.queries import metric as metric_queries
from determined.master.db.queries import metric_trial
from determined.master.db.queries import report as report_queries
from determined.master.db.queries.metric_write import VALIDATION
from determined.master.db.queries.report import Target
from determined.master.lifecycle import allocation, checkpoint, search, webhooks
from determined.master.lifecycle.webhook_event import AlertFacts
from determined.master.services import log_policy
from determined.wire.report import (
    Alert,
    CheckpointReport,
    EarlyExit,
    Exit,
    LogLine,
    MetricReport,
    Missing,
    Phase,
    PreemptAck,
    Progress,
    Record,
    Status,
)

logger = logging.getLogger(__name__)

_MAX_STATUS = 1000  # characters of set_status that are kept
_MAX_TITLE, _MAX_DESCRIPTION = 1000, 10_000  # characters of an alert that are kept
_MAX_WHAT = 200  # characters of a record's name in a warning about it
_MAX_WARNINGS = 20  # lines about dropped records per batch


class Application:
    """The records of one batch on their way into one transaction. `topics` are to be published after the commit."""

    def __init__(
        self, conn: Connection, now: datetime, target: Target, sent: float | None, refused: Mapping[str, str]
    ) -> None:
        self._conn, self._now, self._target, self._sent, self._refused = conn, now, target, sent, refused
        self.dropped: dict[str, str] = {}  # checkpoints, and why
        self._logs: list[LogLine] = []
        self._metrics: list[MetricReport] = []
        self._alerts: list[Alert] = []
        self._progress: Progress | None = None
        self._status: Status | None = None
        self._phase: Phase | None = None
        self._warnings: list[str] = []
        self.topics: set[str] = set()
        self.decided = False  # whether the allocation's own state may have changed

    def apply(self, records: list[Record]) -> None:
        kinds = set(map(type, records))
        if kinds == {LogLine}:
            self._logs = cast(list[LogLine], records)
        elif kinds == {MetricReport}:
            self._metrics = cast(list[MetricReport], records)
        else:
            for record in records:
                self._take(record)
        self._flush()
        self._write_warnings()

    def _take(self, record: Record) -> None:
        match record:
            case LogLine():
                self._logs.append(record)
            case MetricReport():
                self._metrics.append(record)
            case Progress():
                self._progress = record  # only the newest is of interest
            case Status():
                self._status = record
            case Phase():
                self._phase = record
            case Missing():
                pass  # only its number matters
            case Alert():
                self._alerts.append(record)
            case CheckpointReport():
                self._guarded(f"checkpoint {record.uuid}", lambda: self._checkpoint(record), record.uuid)
                self._changed()
            case _:
                self._flush()
                self._control(record)

    def _control(self, record: PreemptAck | EarlyExit | Exit) -> None:
        conn, now, target = self._conn, self._now, self._target
        match record:
            case PreemptAck():
                allocation.preempt_acked(conn, now, target.allocation_id)
            case EarlyExit():
                self._guarded(f"early exit {record.reason}", lambda: self._early_exit(record))
            case Exit():
                log_policy.apply_exit(conn, now, target, record)
                allocation.runner_exited(conn, now, target.resource_id, record, self._sent)
                allocation.mark_drained(conn, target.resource_id)
        self._changed()
        self._decides()

    def _flush(self) -> None:
        if self._phase is not None:
            self._write_phase(self._phase)
        if self._logs:
            self._write_logs()
        if self._metrics:
            self._write_metrics()
        if self._alerts:
            self._guarded(f"{len(self._alerts)} alert(s)", self._write_alerts)
        if self._progress is not None:
            self._write_progress(self._progress)
        if self._status is not None and self._target.trial_id is not None:
            text = self._status.text.replace("\0", "")[:_MAX_STATUS]
            report_queries.set_runner_state(self._conn, self._target.trial_id, text)
            self._changed()
        self._logs, self._metrics, self._alerts = [], [], []
        self._progress, self._status, self._phase = None, None, None

    def _write_phase(self, phase: Phase) -> None:
        """Write how far the runner has come: nothing that the scheduler, or the task itself, waits for."""
        conn, now, target = self._conn, self._now, self._target
        self._guarded(
            f"phase {phase.state}", lambda: allocation.runner_phase(conn, now, target.resource_id, phase.state)
        )
        self._changed()
        self.topics.add(f"task_logs:{target.task_id}")

    def _write_logs(self) -> None:
        target = self._target
        log_queries.append_lines(
            self._conn,
            target.task_id,
            self._logs,
            allocation_id=target.allocation_id or None,
            container_id=target.container_id or None,
            agent_id=target.node_id or None,
        )
        log_policy.apply(self._conn, self._now, target, self._logs)
        webhooks.logs_written(self._conn, self._now, target.task_id, target.node_id, self._logs)
        self.topics.add(f"task_logs:{target.task_id}")

    def _write_metrics(self) -> None:
        trial_id = self._target.trial_id
        if trial_id is None:
            self._warn(f"{len(self._metrics)} metric reports were dropped: task {self._target.task_id} is not a trial")
            return
        who = metric_trial.reporter(self._conn, trial_id)
        result = metric_queries.append_reports(self._conn, who, self._metrics)
        for rejected in result.rejected:
            report, why = rejected.report, rejected.error.message
            self._warn(f"metrics of group '{report.group[:_MAX_WHAT]}' at step {report.steps} were dropped: {why}")
        for report in result.accepted:
            if report.group == VALIDATION:
                self._validation(trial_id, report)
        is_unmanaged = not self._target.allocation_id
        webhooks.metrics_reported(self._conn, self._now, trial_id, result.accepted, is_unmanaged=is_unmanaged)
        self.topics.add(f"metrics:{trial_id}")
        self._changed()

    def _validation(self, trial_id: int, report: MetricReport) -> None:
        steps = report.steps or 0
        self._guarded(
            f"the search event of the validation at step {steps}",
            lambda: search.validation_reported(self._conn, self._now, trial_id, report.metrics, steps),
        )
        self._decides()

    def _write_progress(self, progress: Progress) -> None:
        trial_id = self._target.trial_id
        if trial_id is None:
            return
        self._guarded(
            f"progress {progress.value}",
            lambda: search.progress_reported(self._conn, self._now, trial_id, progress.value, progress.raw),
        )
        self._changed()
        self._decides()

    def _checkpoint(self, record: CheckpointReport) -> None:
        target = self._target
        if record.uuid in self._refused:
            raise CheckpointNotStored(self._refused[record.uuid])
        if target.trial_id is None:
            self._warn(f"checkpoint {record.uuid} was dropped: task {target.task_id} is not a trial")
            return
        checkpoint.report(
            self._conn,
            self._now,
            trial_id=target.trial_id,
            allocation_id=target.allocation_id or None,
            run_id=target.run_id,
            uuid=record.uuid,
            steps=record.steps,
            metadata=record.metadata,
            resources=record.resources,
            time=record.time,
            storage_id=record.storage_id,
        )

    def _write_alerts(self) -> None:
        target = self._target
        if target.experiment_id is None:
            return
        alerts = [AlertFacts(r.title[:_MAX_TITLE], r.description[:_MAX_DESCRIPTION], r.level) for r in self._alerts]
        full = webhooks.alert(self._conn, self._now, target.experiment_id, target.trial_id, alerts)
        self.topics.add(webhooks.TOPIC)
        if full is not None:
            self._warn(f"{full.dropped} alert(s) were dropped: {full}")

    def _early_exit(self, record: EarlyExit) -> None:
        if self._target.trial_id is not None:
            search.early_exit_reported(self._conn, self._now, self._target.trial_id, record.reason)

    def _guarded(self, what: str, act: Callable[[], None], checkpoint_id: str | None = None) -> None:
        """Apply a record; one that fails is named in the task log and skipped: it must not hold up those behind it."""
        try:
            with Savepoint(self._conn):
                act()
        except Unavailable:
            raise
        except DBAPIError as e:
            why = dialects.explain(e)
            if isinstance(why, Unavailable):
                raise
            self._drop(what, why.message, checkpoint_id)
        except (DeterminedError, OverflowError, ValueError) as e:
            self._drop(what, str(e), checkpoint_id)

    def _drop(self, what: str, reason: str, checkpoint_id: str | None) -> None:
        self._warn(f"{what[:_MAX_WHAT]} was dropped: {reason}")
        if checkpoint_id is not None:
            self.dropped[checkpoint_id] = reason

    def _warn(self, text: str) -> None:
        logger.warning("%s: %s", self._target.allocation_id or f"trial {self._target.trial_id}", text)
        self._warnings.append(text)

    def _write_warnings(self) -> None:
        """Write the warnings at once and in limited number: a script may get every one of its reports wrong."""
        said = self._warnings[:_MAX_WARNINGS]
        if len(self._warnings) > len(said):
            said.append(f"{len(self._warnings) - len(said)} more reports were dropped")
        time = self._now.timestamp()
        lines = [LogLine(text, time, "stdout", "WARNING", None, "master") for text in said]
        target = self._target
        log_queries.append_lines(self._conn, target.task_id, lines, allocation_id=target.allocation_id or None)
        if lines:
            self.topics.add(f"task_logs:{target.task_id}")

    def _changed(self) -> None:
        target = self._target
        if target.trial_id is not None:
            self.topics |= {f"trial:{target.trial_id}", f"experiment:{target.experiment_id}"}

    def _decides(self) -> None:
        """Wake the scheduler, and whoever polls the signals or the log of the task."""
        self.decided = True
        self.topics |= {
            "schedule",
            f"allocation:{self._target.allocation_id}",
            f"task_logs:{self._target.task_id}",
        }
