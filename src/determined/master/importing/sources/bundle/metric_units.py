"""Units of metrics: some ten thousand values of a table, from where an earlier run has ended."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

import msgspec
from sqlalchemy import Connection

from determined.bundle import columns, layout
from determined.bundle.columns import Cells, Report, add_value
from determined.bundle.reader import Bundle
from determined.errors import InvalidArgument
from determined.master.db import metric_chunk
from determined.master.db.metric_chunk import Row
from determined.master.db.queries import imported_metrics
from determined.master.db.queries.metric_live import INDEXED
from determined.master.db.queries.metric_write import check_group
from determined.master.importing.clean import clean_metrics
from determined.master.importing.journal import Journal, Unit
from determined.master.importing.packed_metrics import MAX_VALUES, Packed
from determined.master.importing.sources.bundle.plan import METRICS, Plan, metric_files

_REPORTS, _VALUES = 20_000, 200_000  # of a unit
_UNIT_TEXT, _BLOCK_TEXT = 32 << 20, 4 << 20  # characters of the texts of a unit, and of a chunk
_MOST_STEP = 2**62
Series = tuple[int, int]
"""Trial and run."""


@dataclass(slots=True)
class Read:
    """Report with the number of rows of its table that were read up to its end, and the characters of its texts."""

    report: Report
    rows: int = 0
    text: int = 0


@dataclass(slots=True)
class _Unit:
    packed: Packed = field(default_factory=Packed)
    reports: int = 0
    series: Series | None = None
    block: list[Row] = field(default_factory=list)
    values: int = 0  # of the block
    block_text: int = 0
    text: int = 0

    def add(self, read: Read, row: Row, group: str) -> None:
        series = (read.report.trial, read.report.run)
        is_large = self.values > MAX_VALUES or self.block_text > _BLOCK_TEXT
        if series != self.series or len(self.block) == metric_chunk.FULL_ROWS or is_large:
            self.flush(group)
            self.series = series
        self.block.append(row)
        self.values += len(row.metrics)
        self.block_text += read.text
        self.text += read.text
        self.reports += 1

    def flush(self, group: str) -> None:
        if self.series is not None and self.block:
            self.packed.add(*self.series, group, self.block)
        self.block, self.values, self.block_text = [], 0, 0

    @property
    def is_full(self) -> bool:
        is_large = self.packed.values + self.values >= _VALUES or self.text >= _UNIT_TEXT
        return self.reports >= _REPORTS or is_large


def store(bundle: Bundle, plan: Plan, journal: Journal) -> None:
    """Store the metrics of all new experiments. Raises InvalidArgument."""
    done = journal.upto(METRICS) or [0, 0, 0]
    for experiment_id in plan.experiments:
        if experiment_id < done[0]:
            continue
        for number, name in enumerate(metric_files(bundle, experiment_id), 1):
            at = done[1:] if experiment_id == done[0] else [0, 0]
            if number >= at[0]:
                _store_file(bundle, journal, name, [experiment_id, number], at[1] if number == at[0] else 0)


def reports(bundle: Bundle, name: str) -> Iterator[Read]:
    """Yield the reports of a file. Raises InvalidArgument where they are not in order or not of this experiment."""
    last: Read | None = None
    number = 0
    for number, row in enumerate(bundle.rows(name, columns.METRICS), 1):
        try:
            read = _joined(last, row)
        except (ValueError, TypeError, OverflowError, msgspec.DecodeError, RecursionError) as e:
            raise InvalidArgument(f"{name} of {bundle.path}, row {number}: {e}; export it again") from e
        if last is not None and read is not last:
            last.rows = number - 1
            yield last
        last = read
    if last is not None:
        last.rows = number
        yield last


def row_of(report: Report) -> Row:
    """Return a report as a stored row. Raises ValueError."""
    time = datetime.fromisoformat(report.time).timestamp()
    batches = None if report.batches is None else [clean_metrics(batch) for batch in report.batches]
    return Row(report.step, time, clean_metrics(report.metrics), batches)


def _store_file(bundle: Bundle, journal: Journal, name: str, place: list[int], skipped: int) -> None:
    group = layout.group_of(name, bundle.manifest.tables)
    check_group(group)
    series = _series(bundle, place[0], group)
    unit = _Unit()
    rows = 0
    for read in reports(bundle, name):
        rows = read.rows
        if rows <= skipped:
            continue
        if (read.report.trial, read.report.run) not in series:
            raise InvalidArgument(f"{name} of {bundle.path}, row {rows}: its trial has no such run in this group")
        try:
            unit.add(read, row_of(read.report), group)
        except ValueError as e:
            raise InvalidArgument(f"{name} of {bundle.path}, row {rows}: {e}; export it again") from e
        if unit.is_full:
            _store(journal, unit, group, series, [*place, rows])
            unit = _Unit()
    if unit.reports:
        _store(journal, unit, group, series, [*place, rows])


def _store(journal: Journal, unit: _Unit, group: str, series: dict[Series, bool], upto: list[int]) -> None:
    unit.flush(group)
    packed = unit.packed
    for key, (_, last) in packed.spans.items():
        if series[key[:2]]:
            packed.spans[key] = INDEXED, last
    checksum = f"{zlib.crc32(b''.join(chunk['data'] for chunk in packed.chunks)):08x}"
    journal.store(Unit(METRICS, unit.reports, checksum, upto), partial(_write, packed))


def _write(packed: Packed, conn: Connection) -> None:
    imported_metrics.add(conn, packed.chunks, packed.spans, packed.summaries)


def _series(bundle: Bundle, experiment_id: int, group: str) -> dict[Series, bool]:
    """Return the series of a group, and whether their reports carry no steps."""
    trials = bundle.trials(experiment_id)
    return {(t.id, one.run_id): one.indexed for t in trials for one in t.series if one.group == group}


def _report(row: Cells) -> Report:
    trial, run, step, time = row["trial"], row["run"], row["step"], row["time"]
    if not type(trial) is type(run) is type(step) is int:  # a boolean is an instance of int
        raise ValueError("trial, run and step must be whole numbers")
    if not isinstance(time, str) or not 0 <= step < _MOST_STEP or run < 0:
        raise ValueError(f"step {step} of run {run} at {time!r} cannot be")
    return Report(trial, run, step, time, {})


def _place(report: Report) -> tuple[int, int, int]:
    return report.trial, report.run, report.step


def _joined(last: Read | None, row: Cells) -> Read:
    """Return the report that a row is of: the last one, or one that comes after it. Raises ValueError."""
    report = _report(row)
    if last is None or _place(report) != _place(last.report):
        if last is not None:
            _require_later(report, last.report)
        last = Read(report)
    add_value(last.report, row["name"], row["value"], row["text"])
    last.text += len(row["text"] or "")
    return last


def _require_later(report: Report, last: Report) -> None:
    if _place(report) < _place(last):
        raise ValueError(f"trial, run and step {_place(report)} come after {_place(last)}")
