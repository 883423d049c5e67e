"""Series (trial, run, group) while a batch of reports is added: its tail chunk is read once and written once."""

import math
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, insert, select, update

from determined._json import JsonObject
from determined.errors import Conflict, InvalidArgument
from determined.master.db import metric_chunk
from determined.master.db.dialects import upsert
from determined.master.db.metric_chunk import Row
from determined.master.db.queries.metric_live import INDEXED, Watermarks
from determined.master.db.queries.metric_trial import Reporter
from determined.master.db.rows.metrics import MetricChunkValues, MetricWatermarkValues
from determined.master.db.schema import metric_chunks, metric_watermarks
from determined.wire.report import MetricReport

TRAINING, VALIDATION = "training", "validation"
_MAX_STEP = 2**62
MAX_NAMES = 2000  # each has a summary of its own, which is read and written with the report
# Together with its key a name must fit into an index entry: PostgreSQL takes 2,704 bytes.
_MAX_NAME_BYTES = 1024


_DATA = select(metric_chunks.c.data).where(metric_chunks.c.id == bindparam("chunk"))
_INSERT = insert(metric_chunks)
_REWRITE = (
    update(metric_chunks)
    .where(metric_chunks.c.id == bindparam("chunk"))
    .values({name: bindparam(name) for name in ("first_step", "last_step", "n", "full", "data")})
)


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
    """`add` reports, then `save`. `added` is what the batch adds; of a merged report only the new keys."""

    def __init__(self, conn: Connection, who: Reporter, group: str, marks: Watermarks) -> None:
        self._conn, self._who, self._group = conn, who, group
        self._mark = marks.series(who.run_id, group)
        self.indexed = marks.is_indexed(group)
        self._older_runs = any(w.run_id < who.run_id for w in marks.rows)
        self.first_step = self._mark.first_step if self._mark else _MAX_STEP
        self.last_step = self._start(marks)
        self._tail_id = self._mark.tail_id if self._mark else None
        self._rows = _load(conn, self._tail_id)  # the tail's rows and, after them, new ones
        self._dirty = False
        self._names: set[str] = set()
        self._by_step: dict[int, Row] | None = None
        self._sealed: list[_Sealed] | None = None
        self.added: list[Row] = []

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
        if self._dirty:
            self._tail_id = self._write(self._tail_id, self._rows)
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
            if any("\0" in name for name in metrics):
                raise InvalidArgument("metric names must not contain NUL characters")
            long = next((name for name in metrics if _too_long(name)), None)
            if long is not None:
                raise InvalidArgument(f"metric {long[:40]!r}... is longer than {_MAX_NAME_BYTES} bytes; shorten it")
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
        self._rows.append(row)
        self.added.append(row)
        self._dirty = True
        if self._by_step is not None:
            self._by_step[step] = row

    def _add_earlier(self, step: int, report: MetricReport) -> None:
        """Add a step not beyond the last one: merge into its row, wherever that lies, or add a late row."""
        if self._by_step is None:
            self._by_step = {r.step: r for r in self._rows}
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
                sealed.rows = _load(self._conn, sealed.id)
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

    def _write(self, tail_id: int | None, rows: list[Row]) -> int | None:
        """Write the tail and what follows it in blocks; return the new tail, None when the last block is full."""
        last: int | None = None
        for start in range(0, len(rows), metric_chunk.MAX_ROWS):
            last = self._write_block(tail_id, rows[start : start + metric_chunk.MAX_ROWS])
            tail_id = None
        return last

    def _write_block(self, chunk_id: int | None, rows: list[Row]) -> int | None:
        data = metric_chunk.encode(rows)
        steps = [r.step for r in rows]
        full = len(rows) == metric_chunk.MAX_ROWS or len(data) > metric_chunk.MAX_TAIL_BYTES
        values: MetricChunkValues = {
            "first_step": min(steps),
            "last_step": max(steps),
            "n": len(rows),
            "full": full,
            "data": data,
        }
        if chunk_id is not None:
            self._conn.execute(_REWRITE, {"chunk": chunk_id, **values})
            return None if full else chunk_id
        key: MetricChunkValues = {
            "trial_id": self._who.trial_id,
            "run_id": self._who.run_id,
            "group": self._group,
        }
        done = self._conn.execute(_INSERT, {**key, **values})
        return None if full or done.inserted_primary_key is None else done.inserted_primary_key[0]


def _load(conn: Connection, chunk_id: int | None) -> list[Row]:
    if chunk_id is None:
        return []
    return metric_chunk.decode(conn.execute(_DATA, {"chunk": chunk_id}).scalar_one())


def _too_long(name: str) -> bool:
    return len(name) > _MAX_NAME_BYTES or len(name.encode(errors="replace")) > _MAX_NAME_BYTES


def _check_epoch(metrics: JsonObject) -> None:
    for name in ("epoch", "epochs"):
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
