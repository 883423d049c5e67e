"""Facts about experiments, tasks and trials that events for webhooks tell of."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, bindparam, func, select, true, union_all

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.dialects import upsert
from determined.master.db.rows.webhooks import TrialReportTimeValues
from determined.master.db.schema import (
    allocations,
    experiments,
    jobs,
    projects,
    tasks,
    trial_report_times,
    trials,
    webhook_firings,
    workspaces,
)


class ExperimentSource(msgspec.Struct, frozen=True):
    """An experiment with where it is now."""

    id: int
    state: str
    name: str
    config: JsonObject
    start_time: datetime
    end_time: datetime | None
    workspace_id: int
    workspace: str
    project_id: int
    project: str


class TaskSource(msgspec.Struct, frozen=True):
    """`workspace_id`: of the job of a submitted task; a trial's is that of its experiment."""

    experiment_id: int | None
    trial_id: int | None
    workspace_id: int | None


class SilentTrial(msgspec.Struct, frozen=True):
    trial_id: int
    experiment_id: int
    since: datetime


_EXPERIMENT = (
    select(
        experiments.c.id,
        experiments.c.state,
        experiments.c.name,
        experiments.c.config,
        experiments.c.start_time,
        experiments.c.end_time,
        workspaces.c.id.label("workspace_id"),
        workspaces.c.name.label("workspace"),
        projects.c.id.label("project_id"),
        projects.c.name.label("project"),
    )
    .join(projects, projects.c.id == experiments.c.project_id)
    .join(workspaces, workspaces.c.id == projects.c.workspace_id)
    .where(experiments.c.id == bindparam("this"))
)


def experiment(conn: Connection, experiment_id: int) -> ExperimentSource | None:
    return fetch.row(conn, _EXPERIMENT, ExperimentSource, {"this": experiment_id})


def task(conn: Connection, task_id: str) -> TaskSource | None:
    query = (
        select(tasks.c.experiment_id, tasks.c.trial_id, jobs.c.workspace_id)
        .outerjoin(jobs, jobs.c.id == tasks.c.job_id)
        .where(tasks.c.id == task_id)
    )
    return fetch.row(conn, query, TaskSource)


def workspace_of_task(conn: Connection, task_id: str) -> int | None:
    """Return the workspace of a task's experiment, or of its job where it has none."""
    query = (
        select(func.coalesce(projects.c.workspace_id, jobs.c.workspace_id))
        .select_from(tasks)
        .outerjoin(experiments, experiments.c.id == tasks.c.experiment_id)
        .outerjoin(projects, projects.c.id == experiments.c.project_id)
        .outerjoin(jobs, jobs.c.id == tasks.c.job_id)
        .where(tasks.c.id == task_id)
    )
    return conn.execute(query).scalar()


def workspace_of_trial(conn: Connection, trial_id: int) -> int | None:
    query = (
        select(projects.c.workspace_id)
        .join(experiments, experiments.c.project_id == projects.c.id)
        .join(trials, trials.c.experiment_id == experiments.c.id)
        .where(trials.c.id == trial_id)
    )
    return conn.execute(query).scalar()


def set_report_times(conn: Connection, now: datetime, trial_ids: Sequence[int]) -> None:
    """Count the silence of these trials from now on."""
    rows: list[TrialReportTimeValues] = [{"trial_id": trial_id, "reported_at": now} for trial_id in trial_ids]
    upsert(conn, trial_report_times, rows, ["trial_id"])


def silent_trials(
    conn: Connection, trigger_id: int, workspace_id: int | None, before: datetime, limit: int
) -> list[SilentTrial]:
    """List running trials that have reported nothing since `before` and that this trigger has not fired for.

    Of a managed trial the time of its allocation counts, of an unmanaged one that of its run: both have started it.
    `workspace_id`: look at its trials only; None: at those of the whole cluster.
    """
    fired = select(webhook_firings.c.trial_id).where(
        webhook_firings.c.trigger_id == trigger_id, webhook_firings.c.trial_id.is_not(None)
    )
    watched = (
        trials.c.id.not_in(fired),
        true() if workspace_id is None else projects.c.workspace_id == workspace_id,
    )
    found = union_all(*(query.where(*watched) for query in (_managed(before), _unmanaged(before)))).subquery()
    return fetch.rows(conn, select(found).order_by(found.c.trial_id).limit(limit), SilentTrial)


def _managed(before: datetime) -> Select[int, int, datetime | None]:
    since = _since(allocations.c.started_at)
    return (
        _silent(since)
        .select_from(allocations)
        .join(trials, trials.c.id == allocations.c.trial_id)
        .join(experiments, experiments.c.id == trials.c.experiment_id)
        .join(projects, projects.c.id == experiments.c.project_id)
        .where(
            allocations.c.ended_at.is_(None),
            allocations.c.state == "RUNNING",
            allocations.c.started_at.is_not(None),
            since <= before,
        )
    )


def _unmanaged(before: datetime) -> Select[int, int, datetime | None]:
    since = _since(trials.c.start_time)
    return (
        _silent(since)
        .select_from(experiments)
        .join(trials, trials.c.experiment_id == experiments.c.id)
        .join(projects, projects.c.id == experiments.c.project_id)
        .where(experiments.c.unmanaged, experiments.c.state == "ACTIVE", trials.c.state == "ACTIVE", since <= before)
    )


def _silent(since: ColumnElement[datetime | None]) -> Select[int, int, datetime | None]:
    return select(trials.c.id.label("trial_id"), trials.c.experiment_id, since.label("since"))


def _since(start: ColumnElement[datetime] | ColumnElement[datetime | None]) -> ColumnElement[datetime | None]:
    """Return the time of a trial's last report after this start, or the start."""
    reported = select(trial_report_times.c.reported_at).where(
        trial_report_times.c.trial_id == trials.c.id, trial_report_times.c.reported_at > start
    )
    return func.coalesce(reported.scalar_subquery(), start, type_=start.type)
