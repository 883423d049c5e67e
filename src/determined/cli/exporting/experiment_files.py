"""Files of one experiment in a bundle. Memory holds a trial at a time; tables are collected in unnamed files."""

import base64
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import msgspec

from determined.api import experiment
from determined.api.session import Session
from determined.bundle import columns, layout, tables
from determined.bundle.columns import Report
from determined.bundle.layout import CheckpointEntry, ExperimentEntry, LockEntry
from determined.bundle.writer import BundleWriter
from determined.cli.exporting import records
from determined.cli.exporting.checkpoint_files import CheckpointCopier
from determined.config import dump_yaml
from determined.wire.experiment import Experiment
from determined.wire.trial_record import CheckpointRecord, SeriesRecord, TrialRecord


@dataclass(slots=True)
class Counts:
    """Counts of what a bundle holds."""

    experiments: int = 0
    trials: int = 0
    reports: int = 0
    values: int = 0
    checkpoints: int = 0
    checkpoints_copied: int = 0
    log_lines: int = 0


@dataclass(slots=True)
class _TrialSummary:
    """Findings about the trials of an experiment: small, kept for all of them."""

    trials: int = 0
    groups: dict[str, list[int]] = field(default_factory=dict)  # trials by metric group
    tasks: list[str] = field(default_factory=list)  # that have lines
    series: dict[int, list[SeriesRecord]] = field(default_factory=dict)  # those with reports that count, by trial
    lines: dict[str, int] = field(default_factory=dict)  # of each task


@dataclass(slots=True)
class ExperimentWriter:
    """Writer of experiments. `progress` hears how many trials, or what part of one, are written."""

    session: Session
    out: BundleWriter
    form: str
    directory: Path  # of unnamed files
    counts: Counts
    copier: CheckpointCopier | None
    progress: Callable[[float], None]
    _part: float = 0.0  # of a trial, that one of its metric groups is

    def write(self, row: Experiment) -> None:
        folder = layout.folder(row.id)
        self.out.add_bytes(f"{folder}/experiment.json", layout.document(_entry(row)))
        self.out.add_bytes(f"{folder}/config.yaml", dump_yaml(row.config).encode())
        self.out.add_bytes(f"{folder}/original.yaml", row.original_config.encode())
        self._write_code(row)
        for number, lock in enumerate(sorted(experiment.environment_locks(self.session, row.id), key=_platform), 1):
            entry = LockEntry(lock.platform, lock.created_at, lock.content)
            self.out.add_bytes(f"{folder}/environment/{number}.json", layout.document(entry))
        with TemporaryFile(dir=self.directory) as spool:
            summary = self._collect(row.id, spool)
            pieces = sum(map(len, summary.groups.values())) + summary.trials
            self._part = summary.trials / pieces if pieces else 0.0
            self._write_metrics(row.id, summary)
            self._write_logs(row.id, summary)
            self._write_checkpoints(row.id, spool)
            self._write_trials(row.id, spool, summary)
        self.counts.experiments += 1

    def _write_code(self, row: Experiment) -> None:
        if row.model_definition_size:
            code = base64.b64decode(experiment.model_definition(self.session, row.id))
            self.out.add_bytes(f"{layout.folder(row.id)}/code.tgz", code)

    def _collect(self, experiment_id: int, spool: IO[bytes]) -> _TrialSummary:
        """Keep the records in a file, and in memory what has to be asked for."""
        summary = _TrialSummary()
        for trial in records.trials(self.session, experiment_id, hashes=True):
            spool.write(msgspec.json.encode(trial) + b"\n")
            for group in sorted({series.group for series in trial.series}):
                summary.groups.setdefault(group, []).append(trial.id)
            summary.tasks += [task.id for task in trial.tasks if task.log_lines]
            indexed = [series for series in trial.series if series.indexed]
            if indexed:
                summary.series[trial.id] = indexed
            self.counts.trials += 1
            summary.trials += 1
        return summary

    def _write_metrics(self, experiment_id: int, summary: _TrialSummary) -> None:
        indexed = {(id_, one.run_id, one.group) for id_, series in summary.series.items() for one in series}
        summary.series = {}
        for group in sorted(summary.groups):
            with TemporaryFile(dir=self.directory) as file:
                table = tables.writer(file, columns.METRICS, self.form)
                written = 0
                for reports in records.reports(self.session, summary.groups[group], group):
                    written += len(reports)
                    self._write_reports(table, reports)
                    self.progress(self._part)
                    summary.series.setdefault(reports[0].trial, []).extend(_series(reports, group, indexed))
                table.close()
                self.counts.reports += written
                if written:
                    name = layout.metrics_file(experiment_id, group, self.form)
                    self.out.add_file(name, file, unpacked=table.unpacked)

    def _write_reports(self, table: tables.Writer, reports: list[Report]) -> None:
        for report in reports:
            self.counts.values += len(report.metrics)
            for row in columns.metric_rows(report):
                table.add(row)

    def _write_logs(self, experiment_id: int, summary: _TrialSummary) -> None:
        for task_id in summary.tasks:
            with TemporaryFile(dir=self.directory) as file:
                table = tables.JsonLines(file)
                for n, line in enumerate(records.lines(self.session, task_id), 1):
                    table.add_line(layout.encode(line))
                    summary.lines[task_id] = n
                table.close()
                if summary.lines.get(task_id):
                    self.counts.log_lines += summary.lines[task_id]
                    self.out.add_file(layout.log_file(experiment_id, task_id), file, unpacked=table.unpacked)

    def _write_checkpoints(self, experiment_id: int, spool: IO[bytes]) -> None:
        with TemporaryFile(dir=self.directory) as file:
            separator = b"[\n"
            for trial in _spooled(spool):
                for checkpoint in trial.checkpoints:
                    copied = self.copier is not None and self.copier.copy(experiment_id, checkpoint)
                    file.write(separator + layout.encode(_checkpoint(checkpoint, trial.id, copied)))
                    separator = b",\n"
                    self.counts.checkpoints += 1
                    self.counts.checkpoints_copied += copied
            file.write(b"[]\n" if separator == b"[\n" else b"\n]\n")
            self.out.add_file(f"{layout.folder(experiment_id)}/checkpoints.json", file)

    def _write_trials(self, experiment_id: int, spool: IO[bytes], summary: _TrialSummary) -> None:
        with TemporaryFile(dir=self.directory) as file:
            table = tables.writer(file, columns.TRIALS, self.form)
            for trial in _spooled(spool):
                trial.series = sorted(summary.series.get(trial.id, []), key=lambda one: (one.group, one.run_id))
                for task in trial.tasks:
                    task.log_lines = summary.lines.get(task.id, 0)
                table.add(list(columns.trial_row(trial).values()))
                self.progress(self._part)
            table.close()
            self.out.add_file(layout.trials_file(experiment_id, self.form), file, unpacked=table.unpacked)


def _series(reports: list[Report], group: str, indexed: set[tuple[int, int, str]]) -> list[SeriesRecord]:
    """Return the series that the reports of a trial are of."""
    trial = reports[0].trial
    points = Counter(report.run for report in reports)
    return [
        SeriesRecord(run_id=run, group=group, points=n, indexed=(trial, run, group) in indexed)
        for run, n in points.items()
    ]


def _spooled(spool: IO[bytes]) -> Iterator[TrialRecord]:
    spool.seek(0)
    for line in spool:
        yield msgspec.json.decode(line, type=TrialRecord)


def _platform(lock: object) -> str:
    return str(getattr(lock, "platform", ""))


def _entry(row: Experiment) -> ExperimentEntry:
    return ExperimentEntry(
        id=row.id,
        project_id=row.project_id,
        owner=row.username,
        job_id=row.job_id,
        state=records.stored_state(row.state),
        name=row.name,
        start_time=row.start_time,
        description=row.description,
        notes=row.notes or "",
        labels=row.labels or [],
        archived=row.archived,
        unmanaged=bool(row.unmanaged),
        external_id=row.external_experiment_id,
        parent_id=row.forked_from,
        template=row.template,
        pool=row.resource_pool,
        progress=row.progress,
        end_time=row.end_time,
        best_trial_id=row.best_trial_id,
        error=row.error,
    )


def _checkpoint(record: CheckpointRecord, trial_id: int, copied: bool) -> CheckpointEntry:
    fields = {name: getattr(record, name) for name in record.__struct_fields__}
    return CheckpointEntry(**fields, trial_id=trial_id, copied=copied)
