"""Lowest and highest value of each numeric metric over the trials of an experiment, kept as reports are stored.

A project's table asks for them and for the names of its metrics, and summaries are a row per trial and metric.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVarTuple

from sqlalchemy import Connection, NotNullable, Select, bindparam, delete, func, select

from determined.master.db import fetch
from determined.master.db.dialects import upsert
from determined.master.db.metric_summary import Summary
from determined.master.db.queries.batching import batches
from determined.master.db.queries.in_names import InNames
from determined.master.db.rows.metrics import MetricRangeValues
from determined.master.db.schema import experiments, metric_ranges, metric_summaries, trials

_KNOWN = InNames(
    select(metric_ranges.c.name, metric_ranges.c.min, metric_ranges.c.max).where(
        metric_ranges.c.experiment_id == bindparam("experiment"), metric_ranges.c.group == bindparam("in_group")
    ),
    metric_ranges.c.name,
)
_Span = tuple[float, float]
Ts = TypeVarTuple("Ts")


def of_project(conn: Connection, project_id: int) -> list[tuple[str, str, float, float]]:
    """List (group, name, lowest, highest) of every numeric metric that trials of the project have reported, sorted."""
    r = metric_ranges.c
    query = _inside(select(r.group, r.name, func.min(r.min), func.max(r.max)), project_id).group_by(r.group, r.name)
    return sorted((group, name, low, high) for group, name, low, high in conn.execute(query))


def names_of_project(conn: Connection, project_id: int) -> list[tuple[str, str]]:
    """List (group, name) of the same metrics, sorted."""
    query = _inside(select(metric_ranges.c.group, metric_ranges.c.name).distinct(), project_id)
    return sorted((group, name) for group, name in conn.execute(query))


def widen(
    conn: Connection, experiment_id: int, group: str, before: Mapping[str, Summary], now: Mapping[str, Summary]
) -> None:
    """Widen the ranges of an experiment after reports of a trial were added."""
    reached = {name: span for name, s in now.items() if (span := _span(s)) and span != _span(before.get(name))}
    known = _known(conn, experiment_id, group, list(reached))
    hulls = {name: _hull(known.get(name, span), span) for name, span in reached.items()}
    _write(conn, experiment_id, group, {name: hull for name, hull in hulls.items() if known.get(name) != hull})


def narrow(
    conn: Connection, experiment_id: int, group: str, before: Mapping[str, Summary], now: Mapping[str, Summary]
) -> None:
    """Narrow the ranges after reports of a trial were archived: where it held an extreme, read all trials."""
    left = {name: span for name, s in before.items() if (span := _span(s)) and span != _span(now.get(name))}
    known = _known(conn, experiment_id, group, list(left))
    held = [name for name, (low, high) in known.items() if left[name][0] == low or left[name][1] == high]
    r = metric_ranges.c
    for part in batches(held):
        conn.execute(delete(metric_ranges).where(r.experiment_id == experiment_id, r.group == group, r.name.in_(part)))
        _write(conn, experiment_id, group, _of_trials(conn, experiment_id, group, part))


def _inside(query: Select[*Ts], project_id: int) -> Select[*Ts]:
    joined = query.join(experiments, experiments.c.id == metric_ranges.c.experiment_id)
    return joined.where(experiments.c.project_id == project_id)


def _span(summary: Summary | None) -> _Span | None:
    if summary is None or summary.min is None or summary.max is None:
        return None
    return summary.min, summary.max


def _hull(one: _Span, other: _Span) -> _Span:
    return min(one[0], other[0]), max(one[1], other[1])


def _known(conn: Connection, experiment_id: int, group: str, names: Sequence[str]) -> dict[str, _Span]:
    spans: dict[str, _Span] = {}
    for part in batches(names):
        statement, names_of_part = _KNOWN.of(part)
        rows = fetch.tuples(conn, statement, {"experiment": experiment_id, "in_group": group, **names_of_part})
        spans |= {name: (low, high) for name, low, high in rows}
    return spans


def _of_trials(conn: Connection, experiment_id: int, group: str, names: Sequence[str]) -> dict[str, _Span]:
    m = metric_summaries.c
    query = (
        select(m.name, NotNullable(func.min(m.min)), NotNullable(func.max(m.max)))
        .join(trials, trials.c.id == m.trial_id)
        .where(trials.c.experiment_id == experiment_id, m.group == group, m.name.in_(names), m.min.is_not(None))
        .group_by(m.name)
    )
    return {name: (low, high) for name, low, high in conn.execute(query)}


def _write(conn: Connection, experiment_id: int, group: str, spans: Mapping[str, _Span]) -> None:
    rows: list[MetricRangeValues] = [
        {"experiment_id": experiment_id, "group": group, "name": name, "min": low, "max": high}
        for name, (low, high) in spans.items()
    ]
    upsert(conn, metric_ranges, rows, ["experiment_id", "group", "name"])
