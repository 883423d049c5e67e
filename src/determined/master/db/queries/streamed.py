"""Rows that `/stream` tells: each noun declares once the columns of its messages.

A field is `name: Annotated[type, column]`; `Read(column, convert)` where the message says it in other words. The query
(`change_rows.py`), the message and the page's types (`scripts/make_webui_types.py`) follow from it. `seq` is
the number of the change. The rest of a row is fetched by whoever needs it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from sqlalchemy import Column, ColumnElement, FromClause, and_, case, func, or_, select

from determined._json import JsonObject
from determined.master.db.queries.displayed import allocation_rank
from determined.master.db.schema import (
    allocations,
    checkpoints,
    experiments,
    jobs,
    model_versions,
    models,
    projects,
    tasks,
    trials,
    workspaces,
)
from determined.wire.codec import rfc3339, rfc3339_or_none

M = TypeVar("M", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Read:
    """A column, and the function that gives the message's value."""

    column: ColumnElement[Any]
    convert: Callable[[Any], object] | None = None


@dataclass(frozen=True, slots=True)
class Streamed(Generic[M]):
    """A noun of `/stream` whose things are rows of a table."""

    message: type[M]
    key: Column[int] | Column[str]
    source: FromClause


def _optional(value: int | None) -> int | None:
    """Return the column of a row that may be missing: a task without a job."""
    return value


def _prefixed(prefix: str) -> Callable[[str | None], str | None]:
    return lambda name: prefix + name if name is not None else None


def _state(state: Column[str]) -> Read:
    """Read a state as it is shown: nobody schedules an unmanaged run, so it runs while it is active."""
    shown = case((and_(experiments.c.unmanaged, state == "ACTIVE"), "RUNNING"), else_=state)
    return Read(shown, _prefixed("STATE_"))


_live_allocation = (
    select(allocations)
    .where(allocations.c.task_id == tasks.c.id, allocations.c.ended_at.is_(None))
    .order_by(allocation_rank().desc())
    .limit(1)
)
_allocation_state = _live_allocation.with_only_columns(allocations.c.state).scalar_subquery()
_ready_at = _live_allocation.with_only_columns(allocations.c.ready_at).scalar_subquery()


class ProjectMsg(msgspec.Struct):
    id: Annotated[int, projects.c.id]
    name: Annotated[str, projects.c.name]
    description: Annotated[str, projects.c.description]
    archived: Annotated[bool, or_(projects.c.archived, workspaces.c.archived)]
    created_at: Annotated[float, Read(projects.c.created_at, datetime.timestamp)]
    notes: Annotated[list[dict[str, str]], projects.c.notes]
    workspace_id: Annotated[int, projects.c.workspace_id]
    user_id: Annotated[int, projects.c.user_id]
    immutable: Annotated[bool, projects.c.immutable]
    state: Annotated[str, projects.c.state]
    key: Annotated[str, func.coalesce(projects.c.key, "")]
    seq: int


class ExperimentMsg(msgspec.Struct):
    id: Annotated[int, experiments.c.id]
    project_id: Annotated[int, experiments.c.project_id]
    user_id: Annotated[int, experiments.c.owner_id]
    job_id: Annotated[str, experiments.c.job_id]
    state: Annotated[str, _state(experiments.c.state)]
    name: Annotated[str, experiments.c.name]
    progress: Annotated[float | None, experiments.c.progress]
    archived: Annotated[bool, experiments.c.archived]
    start_time: Annotated[str, Read(experiments.c.start_time, rfc3339)]
    end_time: Annotated[str | None, Read(experiments.c.end_time, rfc3339_or_none)]
    seq: int


class TrialMsg(msgspec.Struct):
    id: Annotated[int, trials.c.id]
    experiment_id: Annotated[int, trials.c.experiment_id]
    state: Annotated[str, _state(trials.c.state)]
    restarts: Annotated[int, trials.c.restarts]
    total_batches_processed: Annotated[int, trials.c.steps_completed]
    searcher_metric_value: Annotated[float | None, trials.c.best_validation_value]
    checkpoint_count: Annotated[int, trials.c.checkpoint_count]
    runner_state: Annotated[str, func.coalesce(trials.c.runner_state, "")]
    start_time: Annotated[str, Read(trials.c.start_time, rfc3339)]
    end_time: Annotated[str | None, Read(trials.c.end_time, rfc3339_or_none)]
    seq: int


class CheckpointMsg(msgspec.Struct):
    id: Annotated[str, checkpoints.c.uuid]
    experiment_id: Annotated[int | None, checkpoints.c.experiment_id]
    trial_id: Annotated[int | None, checkpoints.c.trial_id]
    state: Annotated[str, Read(checkpoints.c.state, _prefixed("STATE_"))]
    steps_completed: Annotated[int, checkpoints.c.steps_completed]
    size: Annotated[int, checkpoints.c.size]
    report_time: Annotated[str, Read(checkpoints.c.report_time, rfc3339)]
    seq: int


class TaskMsg(msgspec.Struct):
    id: Annotated[str, tasks.c.id]
    type: Annotated[str, Read(tasks.c.type, _prefixed("TASK_TYPE_"))]
    trial_id: Annotated[int | None, tasks.c.trial_id]
    experiment_id: Annotated[int | None, tasks.c.experiment_id]
    job_id: Annotated[str | None, tasks.c.job_id]
    user_id: Annotated[int | None, Read(jobs.c.owner_id, _optional)]
    workspace_id: Annotated[int | None, Read(jobs.c.workspace_id, _optional)]
    state: Annotated[str | None, Read(_allocation_state, _prefixed("STATE_"))]  # of its live allocation
    is_ready: Annotated[bool, Read(_ready_at, lambda moment: moment is not None)]
    start_time: Annotated[str, Read(tasks.c.start_time, rfc3339)]
    end_time: Annotated[str | None, Read(tasks.c.end_time, rfc3339_or_none)]
    seq: int


class JobMsg(msgspec.Struct):
    id: Annotated[str, jobs.c.id]
    type: Annotated[str, Read(jobs.c.type, _prefixed("TYPE_"))]
    user_id: Annotated[int, jobs.c.owner_id]
    workspace_id: Annotated[int, jobs.c.workspace_id]
    resource_pool: Annotated[str, jobs.c.pool]
    priority: Annotated[int, jobs.c.priority]
    weight: Annotated[float, jobs.c.weight]
    seq: int


class ModelMsg(msgspec.Struct):
    id: Annotated[int, models.c.id]
    name: Annotated[str, models.c.name]
    description: Annotated[str, models.c.description]
    archived: Annotated[bool, models.c.archived]
    creation_time: Annotated[float, Read(models.c.created_at, datetime.timestamp)]
    notes: Annotated[str, models.c.notes]
    workspace_id: Annotated[int, models.c.workspace_id]
    user_id: Annotated[int, models.c.user_id]
    last_updated_time: Annotated[float, Read(models.c.updated_at, datetime.timestamp)]
    metadata: Annotated[JsonObject, models.c.metadata]
    labels: Annotated[list[str], models.c.labels]
    seq: int


class ModelVersionMsg(msgspec.Struct):
    id: Annotated[int, model_versions.c.id]
    name: Annotated[str, model_versions.c.name]
    version: Annotated[int, model_versions.c.version]
    checkpoint_uuid: Annotated[str, model_versions.c.checkpoint_uuid]
    creation_time: Annotated[float, Read(model_versions.c.created_at, datetime.timestamp)]
    last_updated_time: Annotated[float, Read(model_versions.c.updated_at, datetime.timestamp)]
    metadata: Annotated[JsonObject, model_versions.c.metadata]
    model_id: Annotated[int, model_versions.c.model_id]
    user_id: Annotated[int, model_versions.c.user_id]
    comment: Annotated[str, model_versions.c.comment]
    labels: Annotated[list[str], model_versions.c.labels]
    notes: Annotated[str, model_versions.c.notes]
    workspace_id: Annotated[str, Read(models.c.workspace_id, str)]  # a text, as upstream sends it
    seq: int


PROJECTS = Streamed(ProjectMsg, projects.c.id, projects.join(workspaces, workspaces.c.id == projects.c.workspace_id))
EXPERIMENTS = Streamed(ExperimentMsg, experiments.c.id, experiments)
TRIALS = Streamed(TrialMsg, trials.c.id, trials.join(experiments, experiments.c.id == trials.c.experiment_id))
CHECKPOINTS = Streamed(CheckpointMsg, checkpoints.c.uuid, checkpoints)
TASKS = Streamed(TaskMsg, tasks.c.id, tasks.outerjoin(jobs, jobs.c.id == tasks.c.job_id))
JOBS = Streamed(JobMsg, jobs.c.id, jobs)
MODELS = Streamed(ModelMsg, models.c.id, models)
MODEL_VERSIONS = Streamed(
    ModelVersionMsg, model_versions.c.id, model_versions.join(models, models.c.id == model_versions.c.model_id)
)

BY_NOUN: Mapping[str, Streamed[Any]] = {
    "projects": PROJECTS,
    "experiments": EXPERIMENTS,
    "trials": TRIALS,
    "checkpoints": CHECKPOINTS,
    "tasks": TASKS,
    "jobs": JOBS,
    "models": MODELS,
    "modelversions": MODEL_VERSIONS,
}
