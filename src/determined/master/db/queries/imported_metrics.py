"""Packed metrics of an import: chunks as they come, watermarks and summaries joined with those of earlier units."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, insert, select

from determined.master.db import fetch
from determined.master.db.dialects import upsert
from determined.master.db.metric_summary import Summary, merge_all
from determined.master.db.queries.metric import stored_summary, summary_values
from determined.master.db.rows.metrics import (
    MetricChunkValues,
    MetricSummary,
    MetricWatermark,
    MetricWatermarkValues,
)
from determined.master.db.schema import metric_chunks, metric_summaries, metric_watermarks

Series = tuple[int, int, str]
"""Trial, run and group."""


def add(
    conn: Connection,
    chunks: Sequence[MetricChunkValues],
    spans: Mapping[Series, tuple[int, int]],
    summaries: Mapping[tuple[int, str], Mapping[str, Summary]],
) -> None:
    """Store what a unit packed. Of its trials only the first may have been begun by the unit before.

    Args:
        chunks: In the order of their series.
        spans: First and last step of each series.
        summaries: By trial and group, then by name.
    """
    if not chunks:
        return
    begun = chunks[0]["trial_id"]
    conn.execute(insert(metric_chunks), chunks)
    _put_watermarks(conn, begun, spans)
    _put_summaries(conn, begun, summaries)


def _put_watermarks(conn: Connection, begun: int, spans: Mapping[Series, tuple[int, int]]) -> None:
    query = select(metric_watermarks).where(metric_watermarks.c.trial_id == begun)
    before = {(w.trial_id, w.run_id, w.group): w for w in fetch.rows(conn, query, MetricWatermark)}
    rows: list[MetricWatermarkValues] = []
    for series, (first, last) in spans.items():
        mark = before.get(series)
        rows.append(
            {
                "trial_id": series[0],
                "run_id": series[1],
                "group": series[2],
                "first_step": min(first, mark.first_step) if mark else first,
                "last_step": max(last, mark.last_step) if mark else last,
            }
        )
    upsert(conn, metric_watermarks, rows, ["trial_id", "run_id", "group"])


def _put_summaries(conn: Connection, begun: int, summaries: Mapping[tuple[int, str], Mapping[str, Summary]]) -> None:
    query = select(metric_summaries).where(metric_summaries.c.trial_id == begun)
    before: dict[tuple[int, str], dict[str, Summary]] = {}
    for row in fetch.rows(conn, query, MetricSummary):
        before.setdefault((begun, row.group), {})[row.name] = stored_summary(row)
    rows = [
        summary_values(trial_id, group, name, summary)
        for (trial_id, group), new in summaries.items()
        for name, summary in merge_all(before.get((trial_id, group), {}), dict(new)).items()
    ]
    upsert(conn, metric_summaries, rows, ["trial_id", "group", "name"])
