"""Upstream's trials: runs, what only trials have, their tasks and their best and latest validations."""

from array import array
from collections.abc import Sequence
from datetime import datetime

import msgspec

from determined._json import JsonObject
from determined.master.importing.sources.upstream.source import Source


class TrialRow(msgspec.Struct, frozen=True):
    id: int
    experiment_id: int
    job_id: str | None  # of its experiment
    unmanaged: bool
    request_id: str | None
    seed: int | None
    state: str
    start_time: datetime
    end_time: datetime | None
    hparams: object  # JSON
    restart_id: int
    restarts: int
    runner_state: str | None
    total_batches: int
    metadata: JsonObject | None
    searcher_metric: str | None
    best_value: float | None
    best_step: int | None
    best_time: datetime | None
    latest_metrics: object  # JSON
    latest_step: int | None
    latest_time: datetime | None
    checkpoint_size: int
    checkpoint_count: int
    last_activity: datetime | None
    external_id: str | None
    archived: bool
    log_retention_days: int | None


class TaskRow(msgspec.Struct, frozen=True):
    run_id: int
    task_id: str
    task_type: str
    start_time: datetime
    end_time: datetime | None


_TRIALS = """
SELECT r.id, r.experiment_id, e.job_id, e.unmanaged, t.request_id::text, t.seed, r.state::text, r.start_time,
       r.end_time, r.hparams, COALESCE(r.restart_id, 0), COALESCE(r.restarts, 0), r.runner_state::text,
       COALESCE(r.total_batches, 0), {metadata}, e.config->'searcher'->>'metric', r.searcher_metric_value,
       b.total_batches, b.end_time, l.metrics->'validation_metrics', l.total_batches, l.end_time,
       COALESCE(r.checkpoint_size, 0), COALESCE(r.checkpoint_count, 0), r.last_activity, r.external_run_id,
       {archived}, {log_retention_days}
FROM runs r
JOIN experiments e ON e.id = r.experiment_id
LEFT JOIN trials_v2 t ON t.run_id = r.id
LEFT JOIN raw_validations b ON b.id = r.best_validation_id AND b.trial_id = r.id
LEFT JOIN raw_validations l ON l.id = r.latest_validation_id AND l.trial_id = r.id
WHERE r.id = ANY(%(ids)s) ORDER BY r.id
"""
_METADATA = "(SELECT m.metadata FROM runs_metadata m WHERE m.run_id = r.id)"
_TASKS = """
SELECT x.run_id, t.task_id, t.task_type::text, t.start_time AT TIME ZONE 'UTC', t.end_time AT TIME ZONE 'UTC'
FROM run_id_task_id x JOIN tasks t ON t.task_id = x.task_id
WHERE x.run_id = ANY(%(ids)s) ORDER BY x.run_id, t.start_time, t.task_id
"""


def ids(source: Source, experiment_ids: Sequence[int]) -> "array[int]":
    query = "SELECT id FROM runs WHERE experiment_id = ANY(%(ids)s) ORDER BY id"
    return array("q", (id_ for (id_,) in source.tuples(query, {"ids": list(experiment_ids)})))


def read(source: Source, trial_ids: Sequence[int]) -> list[TrialRow]:
    query = _TRIALS.format(
        metadata=source.column("runs_metadata", "metadata", _METADATA),
        archived=source.column("runs", "archived", "r.archived"),
        log_retention_days=source.column("runs", "log_retention_days", "r.log_retention_days"),
    )
    return source.rows(query, TrialRow, {"ids": list(trial_ids)})


def tasks(source: Source, trial_ids: Sequence[int]) -> dict[int, list[TaskRow]]:
    """Return the tasks of trials in the order of their starts; the last one is current."""
    by_trial: dict[int, list[TaskRow]] = {}
    for row in source.rows(_TASKS, TaskRow, {"ids": list(trial_ids)}):
        by_trial.setdefault(row.run_id, []).append(row)
    return by_trial
