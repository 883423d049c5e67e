"""Series (trial, run, group) while a batch of reports is added: its tail chunk is read once and written once.

Reports whose steps only go up, the usual case, are added column by column (`extend`); others one by one (`add`).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import lt

from sqlalchemy import Connection, bindparam, insert, select, update

from determined._json import JsonObject
from determined.errors import Conflict, InvalidArgument
from determined.master.db import fetch, metric_chunk
from determined.master.db.dialects import upsert
from determined.master.db.metric_chunk import Chunk, Reports, Row
from determined.master.db.prepared import prepare
from determined.master.db.queries.metric_live import INDEXED, Watermarks
from determined.master.db.queries.metric_trial import Reporter
from determined.master.db.rows.metrics import MetricChunkValues, MetricWatermarkValues
from determined.master.db.schema import metric_chunks, metric_watermarks
from determined.wire.report import MetricReport

TRAINING, VALIDATION = "training", "validation"
_MAX_STEP = 2**62
_EPOCHS = ("epoch", "epochs")
MAX_NAMES = 2000  # each has a summary of its own, which is read and written with the report
# Together with its key a name must fit into an index entry: PostgreSQL takes 2,704 bytes.
_MAX_NAME_BYTES = 1024


_DATA = prepare(select(metric_chunks.c.data).where(metric_chunks.c.id == bindparam("chunk")))
_INSERT = prepare(insert(metric_chunks).returning(metric_chunks.c.id))
_REWRITE = prepare(update(metric_chunks).where(metric_chunks.c.id == bindparam("chunk")))


@dataclass(slots=True)
class _Sealed:
    """A chunk before the tail, decoded only when a late report falls into its range of steps."""

    id: int
    first_step: int
    last_step: int
    rows: list[Row] | None = None
    changed: bool = False


def check_group(group: str) -> None:
    if not group or "." in group or "\0" in group:
        raise InvalidArgument(f"metric group {group!r} is not usable; it must be non-empty and without '.'")
    if _too_long(group):
        raise InvalidArgument(f"metric group {group[:40]!r}... is longer than {_MAX_NAME_BYTES} bytes; shorten it")


class Series:
    """`extend` or `add` reports, then `save`. `added` is what `add` adds; of a merged report only the new keys."""

    def __init__(self, conn: Connection, who: Reporter, group: str, marks: Watermarks) -> None:
        self._conn, self._who, self._group = conn, who, group
        self._mark = marks.series(who.run_id, group)
        self.indexed = marks.is_indexed(group)
        self._older_runs = any(w.run_id < who.run_id for w in marks.rows)
        self.first_step = self._mark.first_step if self._mark else _MAX_STEP
        self.last_step = self._start(marks)
        self._tail_id = self._mark.tail_id if self._mark else None
        self._rows: list[Row] | None = None  # the tail's rows and, after them, new ones
        self._extension: Reports | None = None
        self._dirty = False
        self._names: set[str] = set()
        self._by_step: dict[int, Row] | None = None
        self._sealed: list[_Sealed] | None = None
        self.added: list[Row] = []

    def extend(self, reports: Sequence[MetricReport]) -> Reports | None:
        """Add reports of rising steps beyond the last one, column by column; None, and nothing is added, for others.

        This may be done once, and in place of `add`.
        """
        steps = [report.steps for report in reports if report.steps is not None]
        metrics = [report.metrics for report in reports]
        has_steps = len(steps) == len(reports) and not self.indexed and self._group != VALIDATION
        if not has_steps or not _go_up(self.last_step, steps) or not _are_plain(metrics):
            return None
        times, batches = [report.time for report in reports], [report.batch_metrics for report in reports]
        self._extension = Reports(steps, times, metric_chunk.gather(metrics), batches)
        self.first_step, self.last_step = min(self.first_step, steps[0]), steps[-1]
        return self._extension

    def add(self, report: MetricReport) -> None:
        """Add a report. Raises InvalidArgument or Conflict and leaves the series as it was."""
        self._check(report.metrics)
        step = self._step_of(report)
        if step <= self.last_step:
            self._add_earlier(step, report)
        else:
            self._add_row(step, report)
            self.last_step = step
        self.first_step = min(self.first_step, step)

    def starts_over(self) -> bool:
        """Return whether this batch may archive reports of earlier runs."""
        if self.indexed or not self._older_runs:
            return False
        return self._mark is None or self.first_step < self._mark.first_step

    def save(self) -> None:
        for sealed in self._sealed or []:
            if sealed.changed and sealed.rows is not None:
                data = metric_chunk.encode(sealed.rows)
                self._conn.execute(update(metric_chunks).where(metric_chunks.c.id == sealed.id).values(data=data))
        if self._extension is not None:
            self._write(self._extension)
        elif self._dirty and self._rows is not None:
            self._write_blocks(self._tail_id, Reports.of(self._rows))
        mark: MetricWatermarkValues = {
            "trial_id": self._who.trial_id,
            "run_id": self._who.run_id,
            "group": self._group,
            "first_step": INDEXED if self.indexed else self.first_step,
            "last_step": self.last_step,
            "tail_id": self._tail_id,
        }
        upsert(self._conn, metric_watermarks, mark, ["trial_id", "run_id", "group"])

    def _check(self, metrics: JsonObject) -> None:
        """Check a report. Names are looked at once per batch, as this runs for every report."""
        if len(metrics) > MAX_NAMES:
            raise InvalidArgument(
                f"a report of group '{self._group}' has {len(metrics)} metrics; at most {MAX_NAMES} are taken in one:"
                " report fewer, or the rest in another group"
            )
        if not self._names.issuperset(metrics):
            _check_names(metrics)
            self._names.update(metrics)
        if "epoch" in metrics or "epochs" in metrics:
            _check_epoch(metrics)
        if self._group == VALIDATION and None in metrics.values():
            names = sorted(k for k, v in metrics.items() if v is None)
            raise InvalidArgument(f"validation metrics {names} are None; leave them out or report a value")

    def _start(self, marks: Watermarks) -> int:
        if self.indexed:
            return max(w.last_step for w in marks.rows if w.group == self._group)
        return self._mark.last_step if self._mark else -1

    def _step_of(self, report: MetricReport) -> int:
        if report.steps is None and self._may_be_indexed():
            self.indexed = True
        if self.indexed:
            return self.last_step + 1
        if report.steps is None:
            raise InvalidArgument(
                f"group '{self._group}' counts steps, but a report has none; add steps_completed to it"
            )
        if not 0 <= report.steps < _MAX_STEP:
            raise InvalidArgument(f"steps_completed={report.steps} is out of range; use 0 or more")
        return report.steps

    def _may_be_indexed(self) -> bool:
        return self._mark is None and not self.added and self._group not in (TRAINING, VALIDATION)

    def _add_row(self, step: int, report: MetricReport) -> None:
        row = Row(step, report.time, report.metrics, report.batch_metrics)
        self._tail_rows().append(row)
        self.added.append(row)
        self._dirty = True
        if self._by_step is not None:
            self._by_step[step] = row

    def _add_earlier(self, step: int, report: MetricReport) -> None:
        """Add a step not beyond the last one: merge into its row, wherever that lies, or add a late row."""
        if self._by_step is None:
            self._by_step = {r.step: r for r in self._tail_rows()}
        row = self._by_step.get(step)
        if row is not None:
            self._merge(row, report)
            self._dirty = True
        elif not self._merge_sealed(step, report):
            self._add_row(step, report)

    def _merge(self, row: Row, report: MetricReport) -> None:
        extra = _extra_keys(row, report)
        self.added.append(Row(row.step, row.time, extra))
        row.metrics = {**row.metrics, **extra}
        if report.batch_metrics is not None:
            row.batch_metrics = report.batch_metrics

    def _merge_sealed(self, step: int, report: MetricReport) -> bool:
        for sealed in self._sealed_chunks():
            if not sealed.first_step <= step <= sealed.last_step:
                continue
            if sealed.rows is None:
                sealed.rows = _load(self._conn, sealed.id).rows()
            row = next((r for r in sealed.rows if r.step == step), None)
            if row is not None:
                self._merge(row, report)
                sealed.changed = True
                return True
        return False

    def _sealed_chunks(self) -> list[_Sealed]:
        if self._sealed is None:
            table = metric_chunks.c
            query = select(table.id, table.first_step, table.last_step).where(
                table.trial_id == self._who.trial_id,
                table.group == self._group,
                table.run_id == self._who.run_id,
                table.id != (self._tail_id or 0),
            )
            self._sealed = [_Sealed(*row) for row in self._conn.execute(query)]
        return self._sealed

    def _tail_rows(self) -> list[Row]:
        if self._rows is None:
            self._rows = [] if self._tail_id is None else _load(self._conn, self._tail_id).rows()
        return self._rows

    def _write(self, extension: Reports) -> None:
        """Write reports behind the tail. One that would grow too large with them is left as it is.

        It is filled up by more reports than a chunk holds: they are cut anyway.
        """
        tail, n = None if self._tail_id is None else _load(self._conn, self._tail_id), len(extension.steps)
        if tail is not None and (tail.n + n <= metric_chunk.MAX_ROWS or n > metric_chunk.MAX_ROWS):
            self._write_blocks(self._tail_id, tail.reports().followed_by(extension))
        else:
            self._write_blocks(None, extension)

    def _write_blocks(self, chunk_id: int | None, reports: Reports) -> None:
        """Write reports in place of a chunk, and what does not fit in there behind it. The last one is the new tail."""
        n = len(reports.steps)
        size = n if n <= metric_chunk.MAX_ROWS else metric_chunk.FULL_ROWS
        for start in range(0, n, size):
            part = reports if size == n else reports.part(start, start + size)
            self._tail_id = self._write_block(chunk_id if start == 0 else None, part)

    def _write_block(self, chunk_id: int | None, reports: Reports) -> int | None:
        """Write a chunk; return its id, None when it is full."""
        data, n = metric_chunk.encode_columns(reports), len(reports.steps)
        full = n >= metric_chunk.FULL_ROWS or len(data) > metric_chunk.MAX_TAIL_BYTES
        values: MetricChunkValues = {
            "first_step": min(reports.steps),
            "last_step": max(reports.steps),
            "n": n,
            "full": full,
            "data": data,
        }
        if chunk_id is not None:
            fetch.change(self._conn, _REWRITE, {"chunk": chunk_id, **values})
            return None if full else chunk_id
        key: MetricChunkValues = {
            "trial_id": self._who.trial_id,
            "run_id": self._who.run_id,
            "group": self._group,
        }
        new_id = fetch.scalar(self._conn, _INSERT, {**key, **values})
        return None if full else new_id


def _load(conn: Connection, chunk_id: int) -> Chunk:
    return Chunk(fetch.existing(fetch.scalar(conn, _DATA, {"chunk": chunk_id}), f"chunk {chunk_id} is missing"))


def _go_up(last: int, steps: Sequence[int]) -> bool:
    """Return whether steps rise from the one that was reported last."""
    return last < steps[0] and steps[-1] < _MAX_STEP and all(map(lt, steps, islice(steps, 1, None)))


def _are_plain(metrics: Sequence[JsonObject]) -> bool:
    """Return whether reports have nothing that has to be looked at report by report."""
    names = set[str]().union(*metrics)
    if max(map(len, metrics)) > MAX_NAMES or not names.isdisjoint(_EPOCHS):
        return False
    return not any("\0" in name or _too_long(name) for name in names)


def _check_names(names: Iterable[str]) -> None:
    if any("\0" in name for name in names):
        raise InvalidArgument("metric names must not contain NUL characters")
    long = next((name for name in names if _too_long(name)), None)
    if long is not None:
        raise InvalidArgument(f"metric {long[:40]!r}... is longer than {_MAX_NAME_BYTES} bytes; shorten it")


def _too_long(name: str) -> bool:
    return len(name) > _MAX_NAME_BYTES or len(name.encode(errors="replace")) > _MAX_NAME_BYTES


def _check_epoch(metrics: JsonObject) -> None:
    for name in _EPOCHS:
        value = metrics.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidArgument(f"metric '{name}'={value!r} must be a number")


def _extra_keys(row: Row, report: MetricReport) -> JsonObject:
    extra: JsonObject = {}
    for name, value in report.metrics.items():
        if name not in row.metrics:
            extra[name] = value
        elif not _same(row.metrics[name], value):
            raise Conflict(
                f"metric '{name}' of group '{report.group}' at step {row.step} is already {row.metrics[name]!r}; "
                f"it cannot become {value!r}"
            )
    return extra


def _same(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return bool(a == b)
