"""Trials with their tasks."""

from collections.abc import Sequence

from determined.config.task_kinds import TRIAL
from determined.master.db.rows.allocations import TaskValues
from determined.master.db.rows.experiments import TrialValues
from determined.master.importing.mapped_state import mapped_state, was_live
from determined.master.importing.notes import Note
from determined.master.importing.sources.upstream import rules
from determined.master.importing.sources.upstream.mapping.mapped import Mapped, MappingContext
from determined.master.importing.sources.upstream.reading.trials import TaskRow, TrialRow
from determined.master.lifecycle.states import TERMINAL
from determined.wire.codec import float_from_wire


def map_trial(row: TrialRow, tasks: Sequence[TaskRow], context: MappingContext) -> Mapped:
    """Map a trial; `tasks` are its tasks in the order of their starts, the last one is current."""
    request_id = row.request_id or context.made_up_id("trial", row.id)
    task_id = tasks[-1].task_id if tasks else f"{row.experiment_id}.{request_id}"
    trial = _trial(row, request_id, task_id, context)
    rows = [_task(row, task, context) for task in tasks] or [_made_up_task(row, task_id, context)]
    return Mapped([("trials", trial), *(("tasks", task) for task in rows)], _notes(row, tasks))


def _trial(row: TrialRow, request_id: str, task_id: str, context: MappingContext) -> TrialValues:
    state = mapped_state(row.state, unmanaged=row.unmanaged)
    return {
        "id": row.id,
        "experiment_id": row.experiment_id,
        "request_id": request_id,
        "task_id": task_id,
        "state": state,
        "hparams": row.hparams if isinstance(row.hparams, dict) else {},
        "seed": row.seed or 0,
        "run_id": row.restart_id,
        "restarts": row.restarts,
        "start_time": row.start_time,
        "end_time": row.end_time or (context.now if state in TERMINAL else None),
        "runner_state": row.runner_state,
        "metadata": row.metadata,
        "exit_reported": state in TERMINAL,
        "steps_completed": row.total_batches,
        "latest_validation_step": row.latest_step,
        "latest_validation_value": _value(row.latest_metrics, row.searcher_metric),
        "latest_validation_time": row.latest_time,
        "best_validation_step": row.best_step if row.best_value is not None else None,
        "best_validation_value": row.best_value if row.best_step is not None else None,
        "best_validation_time": row.best_time if row.best_value is not None else None,
        "checkpoint_count": row.checkpoint_count,
        "checkpoint_size": row.checkpoint_size,
        "log_retention_days": row.log_retention_days,
        "external_id": row.external_id,
        "last_activity": row.last_activity,
        "archived": row.archived,
    }


def _value(metrics: object, name: str | None) -> float | None:
    value = metrics.get(name) if isinstance(metrics, dict) and name else None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float_from_wire(value)
    except ValueError:
        return None


def _task(row: TrialRow, task: TaskRow, context: MappingContext) -> TaskValues:
    ended = mapped_state(row.state, unmanaged=row.unmanaged) in TERMINAL
    return {
        "id": task.task_id,
        "type": TRIAL.name,
        "job_id": context.job_id(row.experiment_id, row.job_id),
        "trial_id": row.id,
        "experiment_id": row.experiment_id,
        "start_time": task.start_time,
        "end_time": task.end_time or (row.end_time or context.now if ended else None),
        "log_retention_days": row.log_retention_days,
    }


def _made_up_task(row: TrialRow, task_id: str, context: MappingContext) -> TaskValues:
    made_up = TaskRow(row.id, task_id, TRIAL.name, row.start_time, row.end_time)
    return _task(row, made_up, context)


def _notes(row: TrialRow, tasks: Sequence[TaskRow]) -> list[Note]:
    what = f"trial {row.id}"
    notes = []
    if was_live(row.state, unmanaged=row.unmanaged):
        notes.append(Note(rules.LIVE, f"{what} was {row.state}"))
    if row.request_id is None:
        notes.append(Note(rules.REQUEST_ID, what))
    if not tasks:
        notes.append(Note(rules.TASK_ID, what))
    return notes
