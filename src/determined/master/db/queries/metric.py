"""Metric reports into the database: chunks, watermarks, summaries and the trial's own columns, in one transaction."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, Text, bindparam, cast, delete, select

from determined._json import JsonObject
from determined.errors import DeterminedError
from determined.master.db import fetch, metric_summary
from determined.master.db.dialects import upsert
from determined.master.db.metric_summary import EncodedNumbers, EncodedSummary, Summary
from determined.master.db.queries import metric_range, metric_trial
from determined.master.db.queries.batching import batches
from determined.master.db.queries.in_names import InNames
from determined.master.db.queries.metric_live import Watermark, Watermarks, live_chunks, watermarks
from determined.master.db.queries.metric_trial import Reporter
from determined.master.db.queries.metric_write import TRAINING, VALIDATION, Series, check_group
from determined.master.db.rows.metrics import MetricSummary, MetricSummaryValues, MetricWatermarkValues
from determined.master.db.schema import metric_summaries, metric_watermarks
from determined.wire.report import MetricReport

_SUMMARIES = InNames(
    select(metric_summaries).where(
        metric_summaries.c.trial_id == bindparam("trial"), metric_summaries.c.group == bindparam("in_group")
    ),
    metric_summaries.c.name,
)
_S = metric_summaries.c
_SUMMARY_ROWS = select(_S.trial_id, _S.group, _S.name, _S.type, _S.count, _S.sum, _S.min, _S.max, _S.last, _S.last_step)
# In the order of the primary key, which both databases read without sorting.
_ENCODED_ROWS = (
    select(_S.trial_id, _S.group, _S.name, _S.type, _S.count, _S.sum, _S.min, _S.max, cast(_S.last, Text))
    .where(_S.trial_id.in_(bindparam("trials", expanding=True)))
    .order_by(_S.trial_id, _S.group, _S.name)
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


TrialSummaries = dict[str, dict[str, JsonObject]]
"""Summaries of one trial by group and metric name, as the wire shows them."""
EncodedSummaries = dict[str, dict[str, EncodedSummary | EncodedNumbers]]
"""The same for an answer that is only encoded."""


def append_reports(conn: Connection, who: Reporter, reports: Sequence[MetricReport]) -> Ingested:
    """Store reports. Same group and step merge by key; bad reports are left out and named in the result."""
    result = Ingested()
    by_group: defaultdict[str, list[MetricReport]] = defaultdict(list)
    for report in reports:
        by_group[report.group].append(report)
    for group, members in by_group.items():
        _append_group(conn, who, group, members, result)
    return result


def summary(conn: Connection, trial_ids: Sequence[int]) -> dict[int, TrialSummaries]:
    """Return `summaryMetrics` in upstream's shape: {trial: {"avg_metrics": {"loss": {count, last, max, ...}}}}."""
    out: dict[int, TrialSummaries] = {trial_id: {} for trial_id in trial_ids}
    for part in batches(trial_ids):
        rows = conn.execute(_SUMMARY_ROWS.where(_S.trial_id.in_(part)).order_by(_S.name))
        # a page of the table reads thousands of them: no struct of a row is built in between
        for trial_id, group, name, kind, count, total, low, high, last, step in rows:
            summed = Summary(kind, count, total, low, high, last, step or 0)
            out[trial_id].setdefault(summary_key(group), {})[name] = metric_summary.to_wire(summed)
    return out


def encoded_summaries(conn: Connection, trial_ids: Sequence[int]) -> dict[int, EncodedSummaries]:
    """Return what `summary` returns, for an answer that is only encoded: a third of the time for thousands of them."""
    out: dict[int, EncodedSummaries] = {trial_id: {} for trial_id in trial_ids}
    for part in batches(trial_ids):
        rows = conn.execute(_ENCODED_ROWS, {"trials": list(part)})
        for trial_id, group, name, kind, count, total, low, high, last in rows:
            entry = metric_summary.encoded(kind, count, total, low, high, last)
            out[trial_id].setdefault(summary_key(group), {})[name] = entry
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
    extension = series.extend(reports)
    if extension is not None:
        result.accepted += reports
        summaries = metric_summary.summarize_columns(extension)
    else:
        _add_each(series, reports, result)
        summaries = metric_summary.summarize(series.added)
    if extension is None and not series.added:
        return
    if series.starts_over():
        _archive(conn, who, group, series, marks)
    series.save()
    _update_summaries(conn, who, group, summaries)
    if not series.indexed:
        metric_trial.advance(conn, who, series.added if group == VALIDATION else [], series.last_step)


def _add_each(series: Series, reports: Sequence[MetricReport], result: Ingested) -> None:
    for report in reports:
        try:
            series.add(report)
        except DeterminedError as e:
            result.rejected.append(Rejected(report, e))
        else:
            result.accepted.append(report)


def _archive(conn: Connection, who: Reporter, group: str, series: Series, marks: Watermarks) -> None:
    """Archive where a run goes back to an earlier step: sum up again every group that loses reports by it."""
    own = Watermark(who.run_id, group, series.first_step, series.last_step, None)
    rest = [w for w in marks.rows if (w.run_id, w.group) != (who.run_id, group)]
    losing = {
        w.group
        for w in rest
        if w.run_id < who.run_id and not w.indexed and w.last_step >= own.first_step + (w.group != group)
    }
    # the watermark must be there before live rows are counted
    mark: MetricWatermarkValues = {
        "trial_id": who.trial_id,
        "run_id": who.run_id,
        "group": group,
        "first_step": own.first_step,
        "last_step": own.last_step,
    }
    upsert(conn, metric_watermarks, mark, ["trial_id", "run_id", "group"])
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
    of_group = _S.trial_id == who.trial_id, _S.group == group
    stored = fetch.rows(conn, select(metric_summaries).where(*of_group), MetricSummary)
    before = {row.name: stored_summary(row) for row in stored}
    conn.execute(delete(metric_summaries).where(*of_group))
    _write_summaries(conn, who.trial_id, group, total)
    metric_range.narrow(conn, who.experiment_id, group, before, total)


def _update_summaries(conn: Connection, who: Reporter, group: str, new: dict[str, Summary]) -> None:
    names = list(new)
    old: dict[str, Summary] = {}
    for part in batches(names):  # a report may carry more names than a statement may have parameters
        statement, names_of_part = _SUMMARIES.of(part)
        key = {"trial": who.trial_id, "in_group": group, **names_of_part}
        old |= {row.name: stored_summary(row) for row in fetch.rows(conn, statement, MetricSummary, key)}
    merged = metric_summary.merge_all(old, new)
    _write_summaries(conn, who.trial_id, group, merged)
    metric_range.widen(conn, who.experiment_id, group, old, merged)


def _write_summaries(conn: Connection, trial_id: int, group: str, summaries: dict[str, Summary]) -> None:
    rows = [summary_values(trial_id, group, name, summary) for name, summary in summaries.items()]
    upsert(conn, metric_summaries, rows, ["trial_id", "group", "name"])


def summary_values(trial_id: int, group: str, name: str, summary: Summary) -> MetricSummaryValues:
    """Return the row that stores a summary."""
    return {
        "trial_id": trial_id,
        "group": group,
        "name": name,
        "type": summary.type,
        "count": summary.count,
        "sum": summary.sum,
        "min": summary.min,
        "max": summary.max,
        "last": summary.last,
        "last_step": summary.last_step,
    }


def stored_summary(row: MetricSummary) -> Summary:
    """Return the summary that a row stores."""
    return Summary(row.type, row.count, row.sum, row.min, row.max, row.last, row.last_step or 0)
