"""Trials as the wire shows them, loaded page by page with a fixed number of queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from determined.errors import NotFound
from determined.master.db.queries import checkpoint_list, metric, trial_list, validation
from determined.master.db.queries.trial_list import ListedTrial
from determined.master.db.rows.checkpoints import Checkpoint
from determined.master.services.experiment_view import shown_state
from determined.wire.checkpoint import CheckpointState, Metrics
from determined.wire.codec import plain, rfc3339, rfc3339_or_none
from determined.wire.trial import CheckpointWorkload, MetricsWorkload, Trial, TrialState


@dataclass(frozen=True, slots=True)
class _Page:
    """Rows that belong to the trials of one page, by trial id."""

    now: datetime
    tasks: dict[int, list[str]]
    allocations: dict[int, str]
    seconds: dict[int, float]
    summaries: dict[int, metric.TrialSummaries]
    checkpoints: dict[int, Checkpoint]


def one(conn: Connection, now: datetime, trial_id: int) -> Trial:
    """Return everything about one trial, with all metrics of its best validation. Raises NotFound."""
    rows = trial_list.load(conn, [trial_id])
    if not rows:
        raise NotFound(f"trial {trial_id} not found")
    trial = _trial(rows[0], _page(conn, now, rows))
    step = rows[0].best_validation_step
    exact = validation.at_places(conn, [(trial_id, step)]).get((trial_id, step)) if step is not None else None
    if trial.best_validation is not None and exact is not None:
        trial.best_validation.metrics = Metrics(avg_metrics=plain(exact.metrics))
    return trial


def load(conn: Connection, now: datetime, ids: Sequence[int]) -> list[Trial]:
    rows = trial_list.load(conn, ids)
    page = _page(conn, now, rows)
    return [_trial(row, page) for row in rows]


def checkpoint_workload(row: Checkpoint) -> CheckpointWorkload:
    return CheckpointWorkload(
        uuid=row.uuid,
        state=CheckpointState("STATE_" + row.state),
        total_batches=row.steps_completed,
        end_time=rfc3339(row.report_time),
        resources={path: str(size) for path, size in row.resources.items()},
        metadata=plain(row.metadata),
    )


def _page(conn: Connection, now: datetime, rows: Sequence[ListedTrial]) -> _Page:
    ids = [row.id for row in rows]
    return _Page(
        now=now,
        tasks=trial_list.task_ids(conn, ids),
        allocations=trial_list.furthest_allocations(conn, [r.id for r in rows if r.state == "ACTIVE"]),
        seconds=trial_list.seconds_run(conn, now, ids),
        summaries=_summaries(conn, ids),
        checkpoints=_best_checkpoints(conn, rows),
    )


def _summaries(conn: Connection, ids: Sequence[int]) -> dict[int, metric.TrialSummaries]:
    summaries: dict[int, metric.TrialSummaries] = {}
    for start in range(0, len(ids), 500):
        summaries.update(metric.summary(conn, ids[start : start + 500]))
    return summaries


def _best_checkpoints(conn: Connection, rows: Sequence[ListedTrial]) -> dict[int, Checkpoint]:
    """Map trials to their checkpoint with the best validation; where none was validated, to the latest."""
    with_any = {r.id: r for r in rows if r.checkpoint_count}
    stored = checkpoint_list.at_steps(conn, list(with_any))
    places = [(c.trial_id, c) for c in stored if c.trial_id is not None]
    values = validation.searcher_values(conn, [(trial_id, c.steps_completed) for trial_id, c in places])
    best: dict[int, tuple[tuple[int, float], Checkpoint]] = {}
    for trial_id, checkpoint in places:
        value = values.get((trial_id, checkpoint.steps_completed))
        sign = 1.0 if with_any[trial_id].smaller_is_better else -1.0
        key = (0, sign * value[0]) if value else (1, -float(checkpoint.steps_completed))
        if trial_id not in best or key < best[trial_id][0]:
            best[trial_id] = (key, checkpoint)
    return {trial_id: checkpoint for trial_id, (_, checkpoint) in best.items()}


def _trial(row: ListedTrial, page: _Page) -> Trial:
    summaries = page.summaries.get(row.id, {})
    checkpoint = page.checkpoints.get(row.id)
    shown = shown_state(row.state, page.allocations.get(row.id), unmanaged=row.unmanaged)
    return Trial(
        id=row.id,
        experiment_id=row.experiment_id,
        state=TrialState("STATE_" + shown),
        hparams=plain(row.hparams),
        restarts=row.restarts,
        start_time=rfc3339(row.start_time),
        end_time=rfc3339_or_none(row.end_time),
        total_batches_processed=row.steps_completed,
        latest_validation=_latest_validation(row, summaries),
        best_validation=_best_validation(row),
        best_checkpoint=checkpoint_workload(checkpoint) if checkpoint is not None else None,
        checkpoint_count=row.checkpoint_count,
        total_checkpoint_size=str(row.checkpoint_size),
        log_policy_matched=row.log_policy_label,
        log_retention_days=row.log_retention_days,
        metadata=row.metadata,
        runner_state=row.runner_state or "",
        stop_reason=row.stop_reason,
        searcher_metric_value=row.best_validation_value,
        summary_metrics=plain(summaries),
        task_id=row.task_id,
        task_ids=page.tasks.get(row.id, [row.task_id]),
        wall_clock_time=_wall_clock(row, page),
        warm_start_checkpoint_uuid=row.warm_start_checkpoint,
    )


def _wall_clock(row: ListedTrial, page: _Page) -> float:
    if row.unmanaged:
        return ((row.end_time or row.last_activity or page.now) - row.start_time).total_seconds()
    return page.seconds.get(row.id, 0.0)


def _latest_validation(row: ListedTrial, summaries: metric.TrialSummaries) -> MetricsWorkload | None:
    """Return the latest value of every validation metric; the time is that of the latest report."""
    if row.latest_validation_step is None:
        return None
    names = summaries.get("validation_metrics", {})
    return _workload(
        {name: entry.get("last") for name, entry in names.items()},
        row.latest_validation_step,
        row.latest_validation_time,
    )


def _best_validation(row: ListedTrial) -> MetricsWorkload | None:
    if row.best_validation_step is None or row.searcher_metric is None:
        return None
    metrics = {row.searcher_metric: row.best_validation_value}
    return _workload(metrics, row.best_validation_step, row.best_validation_time)


def _workload(metrics: dict[str, Any], steps: int, time: datetime | None) -> MetricsWorkload:
    return MetricsWorkload(
        metrics=Metrics(avg_metrics=plain(metrics)),
        num_inputs=0,
        total_batches=steps,
        end_time=rfc3339_or_none(time),
    )
