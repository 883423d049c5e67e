"""Metric reports into the database: chunks, watermarks, summaries and the trial's own columns, in one transaction."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select

from determined.errors import DeterminedError
from determined.master.db import metric_summary
from determined.master.db.dialects import upsert
from determined.master.db.metric_summary import Summary
from determined.master.db.queries import metric_range, metric_trial
from determined.master.db.queries.batching import batches
from determined.master.db.queries.metric_live import Watermark, Watermarks, live_chunks, watermarks
from determined.master.db.queries.metric_trial import Reporter
from determined.master.db.queries.metric_write import TRAINING, VALIDATION, Series, check_group
from determined.master.db.schema import metric_summaries, metric_watermarks
from determined.wire.report import MetricReport

_SUMMARIES = select(metric_summaries).where(
    metric_summaries.c.trial_id == bindparam("trial"),
    metric_summaries.c.group == bindparam("in_group"),
    metric_summaries.c.name.in_(bindparam("names", expanding=True)),
)
_SUMMARY_ROWS = select(
    *(metric_summaries.c[name] for name in ("trial_id", "group", "name", "type", "count", "sum", "min", "max", "last")),
    metric_summaries.c.last_step,
)


@dataclass(frozen=True, slots=True)
class Rejected:
    """A report that was not stored, and why."""

    report: MetricReport
    error: DeterminedError


@dataclass(slots=True)
class Ingested:
    accepted: list[MetricReport] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)


def append_reports(conn: Connection, who: Reporter, reports: Sequence[MetricReport]) -> Ingested:
    """Store what can be stored. Same group and step merge by key; bad reports are left out and named in the answer."""
    result = Ingested()
    by_group: defaultdict[str, list[MetricReport]] = defaultdict(list)
    for report in reports:
        by_group[report.group].append(report)
    for group, members in by_group.items():
        _append_group(conn, who, group, members, result)
    return result


def summary(conn: Connection, trial_ids: Sequence[int]) -> dict[int, dict[str, dict[str, dict[str, Any]]]]:
    """`summaryMetrics` in upstream's shape: {trial: {"avg_metrics": {"loss": {count, last, max, ...}}}}."""
    table = metric_summaries.c
    out: dict[int, dict[str, dict[str, dict[str, Any]]]] = {trial_id: {} for trial_id in trial_ids}
    for part in batches(trial_ids):
        rows = conn.execute(_SUMMARY_ROWS.where(table.trial_id.in_(part)).order_by(table.name))
        # a page of the table reads thousands of them: names of columns are not looked up row by row
        for trial_id, group, name, *values in rows.all():
            out[trial_id].setdefault(summary_key(group), {})[name] = metric_summary.to_wire(Summary(*values))
    return out


_SUMMARY_KEYS = {TRAINING: "avg_metrics", VALIDATION: "validation_metrics"}


def summary_key(group: str) -> str:
    return _SUMMARY_KEYS.get(group, group)


def _append_group(conn: Connection, who: Reporter, group: str, reports: list[MetricReport], result: Ingested) -> None:
    try:
        check_group(group)
    except DeterminedError as e:
        result.rejected += [Rejected(report, e) for report in reports]
        return
    marks = watermarks(conn, who.trial_id)
    series = Series(conn, who, group, marks)
    for report in reports:
        try:
            series.add(report)
        except DeterminedError as e:
            result.rejected.append(Rejected(report, e))
        else:
            result.accepted.append(report)
    if not series.added:
        return
    if series.starts_over():
        _archive(conn, who, group, series, marks)
    series.save()
    _update_summaries(conn, who, group, metric_summary.summarize(series.added))
    if not series.indexed:
        metric_trial.advance(conn, who, series.added if group == VALIDATION else [], series.last_step)


def _archive(conn: Connection, who: Reporter, group: str, series: Series, marks: Watermarks) -> None:
    """A run goes back to an earlier step: sum up again every group that loses reports by it."""
    own = Watermark(who.run_id, group, series.first_step, series.last_step, None)
    rest = [w for w in marks.rows if (w.run_id, w.group) != (who.run_id, group)]
    losing = {
        w.group
        for w in rest
        if w.run_id < who.run_id and not w.indexed and w.last_step >= own.first_step + (w.group != group)
    }
    # the watermark must be there before live rows are counted
    mark = {"trial_id": who.trial_id, "run_id": who.run_id, "group": group}
    values = {"first_step": own.first_step, "last_step": own.last_step}
    upsert(conn, metric_watermarks, {**mark, **values}, list(mark))
    for name in losing:
        _summarize_again(conn, who, name)
    if VALIDATION in losing:
        metric_trial.recompute_validations(conn, who)
    metric_trial.set_steps(conn, who.trial_id, Watermarks([*rest, own]).last_live_step())


def _summarize_again(conn: Connection, who: Reporter, group: str) -> None:
    total: dict[str, Summary] = {}
    for chunk in live_chunks(conn, who.trial_id, group):
        rows = [r for r in chunk.chunk.rows() if chunk.cutoff is None or r.step < chunk.cutoff]
        if rows:
            total.update(metric_summary.merge_all(total, metric_summary.summarize(rows)))
    table = metric_summaries.c
    of_group = table.trial_id == who.trial_id, table.group == group
    before = {row["name"]: _summary(row) for row in conn.execute(select(metric_summaries).where(*of_group)).mappings()}
    conn.execute(delete(metric_summaries).where(*of_group))
    _write_summaries(conn, who.trial_id, group, total)
    metric_range.narrow(conn, who.experiment_id, group, before, total)


def _update_summaries(conn: Connection, who: Reporter, group: str, new: dict[str, Summary]) -> None:
    names = list(new)
    old: dict[str, Summary] = {}
    for part in batches(names):  # a report may carry more names than a statement may have parameters
        found = conn.execute(_SUMMARIES, {"trial": who.trial_id, "in_group": group, "names": list(part)}).mappings()
        old |= {row["name"]: _summary(row) for row in found}
    merged = metric_summary.merge_all(old, new)
    _write_summaries(conn, who.trial_id, group, merged)
    metric_range.widen(conn, who.experiment_id, group, old, merged)


def _write_summaries(conn: Connection, trial_id: int, group: str, found: dict[str, Summary]) -> None:
    rows = [
        {
            "trial_id": trial_id,
            "group": group,
            "name": name,
            "type": s.type,
            "count": s.count,
            "sum": s.sum,
            "min": s.min,
            "max": s.max,
            "last": s.last,
            "last_step": s.last_step,
        }
        for name, s in found.items()
    ]
    upsert(conn, metric_summaries, rows, ["trial_id", "group", "name"])


def _summary(row: Any) -> Summary:
    return Summary(row["type"], row["count"], row["sum"], row["min"], row["max"], row["last"], row["last_step"])
