"""Columns of trials that metrics set: steps completed, latest and best validation of the searcher's metric."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec
from sqlalchemy import Connection, bindparam, select, update

from determined.master.db import fetch
from determined.master.db.metric_chunk import Row
from determined.master.db.prepared import prepare
from determined.master.db.queries.metric_live import live_chunks
from determined.master.db.rows.experiments import TrialValues
from determined.master.db.schema import experiments, metric_summaries, trials

_STANDING = prepare(
    select(
        trials.c.steps_completed,
        trials.c.latest_validation_step,
        trials.c.latest_validation_value,
        trials.c.latest_validation_time,
        trials.c.best_validation_step,
        trials.c.best_validation_value,
        trials.c.best_validation_time,
    ).where(trials.c.id == bindparam("trial"))
)
_REPORTER = prepare(
    select(
        trials.c.id.label("trial_id"),
        trials.c.run_id,
        trials.c.experiment_id,
        experiments.c.searcher_metric,
        experiments.c.smaller_is_better,
    )
    .join(experiments, experiments.c.id == trials.c.experiment_id)
    .where(trials.c.id == bindparam("trial"))
)
_SET = prepare(update(trials).where(trials.c.id == bindparam("trial")))


class Reporter(msgspec.Struct, frozen=True):
    """The trial a report belongs to, at its current run."""

    trial_id: int
    run_id: int
    experiment_id: int
    searcher_metric: str | None
    smaller_is_better: bool


class _Validations(msgspec.Struct, frozen=True):
    steps_completed: int
    latest_validation_step: int | None
    latest_validation_value: float | None
    latest_validation_time: datetime | None
    best_validation_step: int | None
    best_validation_value: float | None
    best_validation_time: datetime | None


@dataclass(slots=True)
class _Standing:
    """Steps, values and times of the latest and the best validation, as the trial's columns hold them."""

    latest: tuple[int, float | None, datetime] | None = None
    best: tuple[int, float, datetime] | None = None


def reporter(conn: Connection, trial_id: int) -> Reporter:
    return fetch.existing(fetch.row(conn, _REPORTER, Reporter, {"trial": trial_id}), f"trial {trial_id} does not exist")


def advance(conn: Connection, who: Reporter, validations: Sequence[Row], last_step: int) -> None:
    """Take new reports into account."""
    row = fetch.existing(
        fetch.row(conn, _STANDING, _Validations, {"trial": who.trial_id}), f"trial {who.trial_id} does not exist"
    )
    values: TrialValues = {}
    if last_step > row.steps_completed:
        values["steps_completed"] = last_step
    if validations:
        standing = _standing(row)
        _take(standing, who, validations)
        values |= _columns(standing)
    if values:
        fetch.change(conn, _SET, {"trial": who.trial_id, **values})


def recompute_validations(conn: Connection, who: Reporter) -> None:
    """Recompute, after reports were archived, the latest and the best validation of those that still count."""
    standing = _Standing()
    for chunk in live_chunks(conn, who.trial_id, "validation"):
        rows = [r for r in chunk.chunk.rows() if chunk.cutoff is None or r.step < chunk.cutoff]
        _take(standing, who, rows)
    fetch.change(conn, _SET, {"trial": who.trial_id, **_columns(standing)})


def set_steps(conn: Connection, trial_id: int, steps: int) -> None:
    fetch.change(conn, _SET, {"trial": trial_id, "steps_completed": steps})


def _standing(row: _Validations) -> _Standing:
    standing = _Standing()
    if row.latest_validation_step is not None and row.latest_validation_time is not None:
        standing.latest = (row.latest_validation_step, row.latest_validation_value, row.latest_validation_time)
    step, value, time = row.best_validation_step, row.best_validation_value, row.best_validation_time
    if step is not None and value is not None and time is not None:
        standing.best = (step, value, time)
    return standing


def _take(standing: _Standing, who: Reporter, rows: Iterable[Row]) -> None:
    for row in rows:
        value = _searcher_value(who, row)
        when = _time(row.time)
        same_step = standing.latest is not None and standing.latest[0] == row.step
        if same_step and value is None:
            continue
        if standing.latest is None or row.step >= standing.latest[0]:
            standing.latest = (row.step, value, when)
        if value is not None and (standing.best is None or _better(who, value, standing.best[1])):
            standing.best = (row.step, value, when)


def _searcher_value(who: Reporter, row: Row) -> float | None:
    value = row.metrics.get(who.searcher_metric) if who.searcher_metric else None
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None  # NaN is never the best, and SQLite could not store it
    return float(value)


def _better(who: Reporter, value: float, than: float) -> bool:
    return value < than if who.smaller_is_better else value > than


def _columns(standing: _Standing) -> TrialValues:
    latest = standing.latest or (None, None, None)
    best = standing.best or (None, None, None)
    return {
        "latest_validation_step": latest[0],
        "latest_validation_value": latest[1],
        "latest_validation_time": latest[2],
        "best_validation_step": best[0],
        "best_validation_value": best[1],
        "best_validation_time": best[2],
    }


def _time(seconds: float) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


def validation_names(conn: Connection, trial_id: int, limit: int) -> list[str]:
    """List names of the validation metrics that a trial has reported."""
    mine = metric_summaries.c.trial_id == trial_id, metric_summaries.c.group == "validation"
    query = select(metric_summaries.c.name).where(*mine).order_by(metric_summaries.c.name).limit(limit)
    return list(conn.execute(query).scalars())
