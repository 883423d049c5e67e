"""CSV of every point of a few metrics, chunk by chunk: a million points need no memory here and none in the browser."""

import csv
import io
import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from itertools import product

from sqlalchemy import Connection

from determined.master.context import MasterContext
from determined.master.db.queries import metric_series
from determined.master.db.queries.metric_series import ChunkPlace, StoredReport
from determined.master.services.downsample import is_number
from determined.master.services.metric import report_places, require_trials

HEADER = ("trial", "metric", "batches", "epoch", "time", "value")
_FORMULA = re.compile(r"[=+\-@\t\r]")


async def points(
    ctx: MasterContext, trial_ids: Sequence[int], metrics: Sequence[tuple[str, str]]
) -> AsyncIterator[bytes]:
    """Yield the points. Raises NotFound before the first line is written."""
    await require_trials(ctx, trial_ids)
    return _lines(ctx, list(dict.fromkeys(trial_ids)), list(dict.fromkeys(metrics)))


async def _lines(
    ctx: MasterContext, trial_ids: Sequence[int], metrics: Sequence[tuple[str, str]]
) -> AsyncIterator[bytes]:
    yield _csv([HEADER])
    groups = dict.fromkeys(group for group, _ in metrics)
    for trial_id, group in product(trial_ids, groups):
        names = [name for owner, name in metrics if owner == group]
        for place in await ctx.db.read(report_places(trial_id, group)):
            # a transaction per chunk: a slow reader must not hold one open
            yield await ctx.db.read(_chunk(trial_id, place, names))


def _chunk(trial_id: int, place: ChunkPlace, names: Sequence[str]) -> Callable[[Connection], bytes]:
    def read(conn: Connection) -> bytes:
        return _csv(row for report in metric_series.reports(conn, place) for row in _rows(trial_id, report, names))

    return read


def _rows(trial_id: int, report: StoredReport, names: Sequence[str]) -> list[tuple[object, ...]]:
    row = report.row
    epoch = row.metrics.get("epoch", row.metrics.get("epochs", ""))
    return [
        (trial_id, _text(f"{report.group}.{name}"), row.step, epoch, row.time, row.metrics[name])
        for name in names
        if is_number(row.metrics.get(name))
    ]


def _text(name: str) -> str:
    """Return a text cell; words that a spreadsheet would run as a formula are written as text."""
    return f"'{name}" if _FORMULA.match(name) else name


def _csv(rows: Iterable[Iterable[object]]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode(errors="replace")
