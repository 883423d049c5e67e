"""Verification: every id, count and checkpoint of a bundle, and all values of some trials, against what is stored."""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from determined.bundle import layout
from determined.bundle.layout import CheckpointEntry
from determined.bundle.reader import Bundle
from determined.master.db.metric_chunk import Row
from determined.master.db.queries import import_check, model_definition, trial_record
from determined.master.importing import kept_ids
from determined.master.importing.compare import same
from determined.master.importing.sources.bundle import checkpoint_files, metric_units
from determined.master.importing.sources.bundle.plan import EXPERIMENTS, TRIALS, Plan, checkpoint_entries, metric_files
from determined.master.importing.target import Target
from determined.wire.trial_record import TrialRecord

_SAMPLES = 50  # trials whose every value is compared
_SHOWN = 20  # problems of one kind
_AT_ONCE = 500

Span = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Verification:
    bundle: Bundle
    target: Target
    plan: Plan
    logs: bool
    files: Path  # where copied checkpoints are

    def problems(self) -> list[str]:
        """Return what differs, for people; nothing where all agrees."""
        sampled = set(
            random.Random(self.bundle.manifest.cluster_id).sample(
                self.plan.trials, min(_SAMPLES, len(self.plan.trials))
            )
        )
        kinds = [self._missing(), self._code(), self._metrics(sampled), self._checkpoints()]
        if self.logs:
            kinds.append(self._lines())
        return [problem for kind in kinds for problem in islice(kind, _SHOWN)]

    def _missing(self) -> Iterator[str]:
        for table, ids in ((EXPERIMENTS, self.plan.experiments), (TRIALS, self.plan.trials)):
            yield from kept_ids.missing(self.target, table, ids)

    def _code(self) -> Iterator[str]:
        for id_ in self.plan.experiments:
            name = f"{layout.folder(id_)}/code.tgz"
            entry = self.bundle.manifest.files.get(name)
            packed = self.target.read(lambda conn, id_=id_: model_definition.get(conn, id_))  # type: ignore[misc]
            if entry is not None and (packed is None or hashlib.sha256(packed).hexdigest() != entry.sha256):
                yield f"code of experiment {id_} is not that of the bundle"

    def _metrics(self, sampled: set[int]) -> Iterator[str]:
        """Compare points, first and last step of every trial and group, and all values of the sampled trials."""
        for id_ in self.plan.experiments:
            spans: dict[tuple[int, str], Span] = {}
            for name in metric_files(self.bundle, id_):
                group = layout.group_of(name, self.bundle.manifest.tables)
                yield from self._file(name, group, sampled, spans)
            trials = sorted({trial for trial, _ in spans})
            stored = self.target.read(lambda conn, trials=trials: import_check.points(conn, trials))  # type: ignore[misc]
            for (trial, group), span in spans.items():
                if (actual := stored.get((trial, group))) != span:
                    yield f"trial {trial}, {group}: points, first and last step {span}, here {actual}"

    def _file(self, name: str, group: str, sampled: set[int], spans: dict[tuple[int, str], Span]) -> Iterator[str]:
        collected: list[Row] = []
        trial = 0
        for read in metric_units.reports(self.bundle, name):
            report = read.report
            if report.trial != trial:
                yield from self._differences(trial, group, collected)
                trial, collected = report.trial, []
            n, first, last = spans.get((trial, group), (0, report.step, report.step))
            spans[trial, group] = n + 1, min(first, report.step), max(last, report.step)
            if trial in sampled:
                collected.append(metric_units.row_of(report))
        yield from self._differences(trial, group, collected)

    def _differences(self, trial: int, group: str, rows: list[Row]) -> Iterator[str]:
        if not rows:
            return
        stored = self.target.read(lambda conn: import_check.series(conn, trial, group))
        if len(stored) != len(rows):
            yield f"trial {trial}, {group}: {len(rows)} points, {len(stored)} are shown here"
            return
        for ours, theirs in zip(stored, rows, strict=True):
            if (ours.step, ours.time) != (theirs.step, theirs.time) or not same(ours.metrics, theirs.metrics):
                yield f"trial {trial}, {group}, step {theirs.step}: {theirs.metrics} is stored as {ours}"
                return

    def _checkpoints(self) -> Iterator[str]:
        for id_ in self.plan.experiments:
            entries = checkpoint_entries(self.bundle, id_, CheckpointEntry)
            while part := list(islice(entries, _AT_ONCE)):
                yield from self._checkpoints_of(id_, part)

    def _checkpoints_of(self, experiment_id: int, entries: list[CheckpointEntry]) -> Iterator[str]:
        stored = self.target.read(lambda conn: import_check.checkpoint_sizes(conn, [entry.uuid for entry in entries]))
        for entry in entries:
            state = "ERROR" if entry.state == "ACTIVE" else entry.state
            if stored.get(entry.uuid) != (state, entry.size, entry.resources):
                yield f"checkpoint {entry.uuid}: {state}, {entry.size} bytes, here {stored.get(entry.uuid)}"
            elif entry.copied:
                problem = checkpoint_files.problem(self.bundle, experiment_id, entry, self.files)
                if problem is not None:
                    yield f"checkpoint {entry.uuid}: {problem}"

    def _lines(self) -> Iterator[str]:
        for id_ in self.plan.experiments:
            trials = self.bundle.trials(id_)
            while part := list(islice(trials, _AT_ONCE)):
                yield from self._lines_of(part)

    def _lines_of(self, trials: list[TrialRecord]) -> Iterator[str]:
        stored = self.target.read(lambda conn: trial_record.log_lines(conn, [trial.id for trial in trials]))
        for task in (task for trial in trials for task in trial.tasks):
            if stored.get(task.id, 0) != task.log_lines:
                yield f"task {task.id}: {task.log_lines} lines, here {stored.get(task.id, 0)}"
