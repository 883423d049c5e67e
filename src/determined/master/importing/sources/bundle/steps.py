"""Steps of an import in their order: each reads some things of the bundle, maps them and stores them as a unit."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import msgspec
from sqlalchemy import Connection

from determined._json import JsonObject
from determined.bundle import layout
from determined.bundle.layout import CheckpointEntry, LockEntry, LogEntry
from determined.bundle.reader import Bundle
from determined.errors import InvalidArgument, InvalidConfig
from determined.master.db.log_chunk import LEVEL_CODES, Origin
from determined.master.db.queries import checkpoint as checkpoint_rows
from determined.master.db.queries import imported, log, storage_backend
from determined.master.importing.clean import clean_text
from determined.master.importing.journal import Batch, Journal, Unit
from determined.master.importing.sources.bundle import checkpoint_files, mapping
from determined.master.importing.sources.bundle.mapping import MappingContext
from determined.master.importing.sources.bundle.plan import (
    CHECKPOINTS,
    CODE,
    EXPERIMENTS,
    LOGS,
    TRIALS,
    Plan,
    checkpoint_entries,
    experiment_entry,
    log_files,
)
from determined.storage.shared_fs.config import section_at
from determined.wire.report import LogLine
from determined.wire.trial_record import TrialRecord

RANGES = "ranges of metrics"
_EXPERIMENTS, _TRIALS, _CHECKPOINTS, _LINES, _RANGES = 50, 200, 100, 10_000, 500  # things in a unit
_CHUNK = 1000  # lines
_MOST_CODE = 512 * 1024 * 1024
_PLATFORMS = 100


@dataclass(frozen=True, slots=True)
class Steps:
    """`files`: directory for the files of copied checkpoints."""

    bundle: Bundle
    plan: Plan
    journal: Journal
    context: MappingContext
    files: Path

    def experiments(self) -> None:
        self.journal.store_ids(EXPERIMENTS, self.plan.experiments, self._experiments, size=_EXPERIMENTS, keep_ids=True)

    def code(self) -> None:
        """Store the code of experiments, one at a time: it may have a hundred megabytes."""
        done = self.journal.upto(CODE)
        for id_ in self.plan.experiments:
            name = f"{layout.folder(id_)}/code.tgz"
            if self.bundle.has(name) and not (done and id_ <= done[0]):
                batch = Batch()
                packed = self.bundle.content(name, _MOST_CODE)
                batch.add([("model_definitions", {"experiment_id": id_, "tgz": packed})])
                self.journal.store(Unit(CODE, 1, batch.checksum(), [id_], batch.tally), batch.write)

    def trials(self) -> None:
        done = self.journal.upto(TRIALS) or [0, 0]
        for id_ in self.plan.experiments:
            entry = experiment_entry(self.bundle, id_)
            left = (trial for trial in self.bundle.trials(id_) if [id_, trial.id] > done)
            while part := list(islice(left, _TRIALS)):
                batch = Batch()
                for trial in part:
                    _require_own(self.bundle, trial)
                    batch.add(mapping.map_trial(trial, entry, self.context))
                    batch.tally.add(mapping.trial_notes(trial))
                ids = [trial.id for trial in part]
                unit = Unit(TRIALS, len(part), batch.checksum(), [id_, ids[-1]], batch.tally, ids)
                self.journal.store(unit, batch.write)

    def ranges(self) -> None:
        """Compute the ranges of metrics that project tables show."""
        done = self.journal.upto(RANGES)
        left = [id_ for id_ in self.plan.experiments if not done or id_ > done[0]]
        for start in range(0, len(left), _RANGES):
            part = left[start : start + _RANGES]
            self.journal.store(Unit(RANGES, len(part), "", [part[-1]]), partial(_write_ranges, part))

    def checkpoints(self) -> None:
        done = self.journal.upto(CHECKPOINTS) or [0, 0]
        for id_ in self.plan.experiments:
            if id_ < done[0]:
                continue
            own = {trial.id for trial in self.bundle.trials(id_)}
            at = done[1] if id_ == done[0] else 0
            entries = islice(checkpoint_entries(self.bundle, id_, CheckpointEntry), at, None)
            while part := list(islice(entries, _CHECKPOINTS)):
                at += len(part)
                self._store_checkpoints(id_, own, part, at)

    def logs(self) -> None:
        done = self.journal.upto(LOGS) or [0, 0, 0]
        for id_ in self.plan.experiments:
            if id_ < done[0]:
                continue
            own = {task.id for trial in self.bundle.trials(id_) for task in trial.tasks}
            for number, name in enumerate(log_files(self.bundle, id_), 1):
                if layout.task_of(name) not in own:
                    raise InvalidArgument(f"{name} of {self.bundle.path} is the log of no task of the experiment")
                if [id_, number] >= done[:2]:
                    at = done[2] if [id_, number] == done[:2] else 0
                    self._store_log(name, [id_, number], at)

    def _experiments(self, ids: Sequence[int]) -> Batch:
        batch, locks = Batch(), []
        for id_ in ids:
            folder = layout.folder(id_)
            original = f"{folder}/original.yaml"
            text = clean_text(self.bundle.text(original)) if self.bundle.has(original) else ""
            entry = experiment_entry(self.bundle, id_)
            config = f"{folder}/config.yaml"
            try:
                rows, notes = mapping.map_experiment(entry, self.bundle.text(config), text, self.context)
            except InvalidConfig as e:
                raise InvalidArgument(f"{config} of {self.bundle.path}: {e.message}") from e
            batch.add(rows)
            batch.tally.add(notes)
            for name in self.bundle.below(f"{folder}/environment/")[:_PLATFORMS]:
                locks.append(mapping.map_lock(self.bundle.document(name, LockEntry), id_))
        batch.add(("environment_locks", lock) for lock in locks)
        return batch

    def _store_checkpoints(self, id_: int, own: set[int], part: list[CheckpointEntry], at: int) -> None:
        for entry in part:
            if entry.trial_id not in own:
                raise InvalidArgument(
                    f"checkpoint {entry.uuid} is of trial {entry.trial_id}, which is not in the bundle"
                )
            if entry.copied:
                checkpoint_files.copy(self.bundle, id_, entry, self.files)
        tally = Batch().tally
        for entry in part:
            tally.add(mapping.checkpoint_notes(entry))
        unit = Unit(CHECKPOINTS, len(part), "", [id_, at], tally)
        self.journal.store(unit, partial(_write_checkpoints, id_, part, section_at(str(self.files))))

    def _store_log(self, name: str, place: list[int], at: int) -> None:
        task_id = layout.task_of(name)
        left = islice(self.bundle.lines(name), at, None)
        while part := list(islice(left, _LINES)):
            lines = [_line(self.bundle.decoded(name, line, LogEntry)) for line in part]
            at += len(part)
            self.journal.store(Unit(LOGS, len(part), "", [*place, at]), partial(_write_lines, task_id, lines))


def _require_own(bundle: Bundle, trial: TrialRecord) -> None:
    """Refuse a trial whose tasks are not its own: raises InvalidArgument."""
    tasks = {task.id for task in trial.tasks}
    if trial.task_id not in tasks or any(one.task_id not in tasks for one in trial.allocations):
        raise InvalidArgument(
            f"trial {trial.id} of {bundle.path} names a task that is not listed with it; export it again"
        )


def _write_checkpoints(experiment_id: int, part: list[CheckpointEntry], copied: JsonObject, conn: Connection) -> None:
    storages: dict[bytes, int] = {}
    batch = Batch()
    for entry in part:
        section = copied if entry.copied else mapping.map_storage(entry.storage) if entry.storage else None
        storage_id = None
        if section is not None:
            key = msgspec.json.encode(section, order="deterministic")
            if key not in storages:
                storages[key] = storage_backend.ensure(conn, section)
            storage_id = storages[key]
        batch.add([("checkpoints", mapping.map_checkpoint(entry, experiment_id, storage_id))])
    batch.write(conn)
    checkpoint_rows.refresh_trials(conn, sorted({entry.trial_id for entry in part}))


def _write_ranges(experiment_ids: Sequence[int], conn: Connection) -> None:
    imported.make_ranges(conn, experiment_ids)


def _write_lines(task_id: str, lines: list[tuple[Origin, LogLine]], conn: Connection) -> None:
    for start in range(0, len(lines), _CHUNK):
        log.append_mixed(conn, task_id, lines[start : start + _CHUNK])


def _line(entry: LogEntry) -> tuple[Origin, LogLine]:
    origin = Origin(entry.allocation, entry.container, entry.agent, entry.rank, entry.stdtype, entry.source)
    level = entry.level if entry.level in LEVEL_CODES else None
    time = mapping.moment(entry.time).timestamp()
    return origin, LogLine(clean_text(entry.text), time, entry.stdtype, level, entry.rank, entry.source)
