"""Service of one experiment: show, change, and the verbs people use on it."""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection

from determined.errors import FailedPrecondition, NotFound
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db import fetch
from determined.master.db.queries import experiment as rows
from determined.master.db.queries import experiment_edit, experiment_list, validation
from determined.master.lifecycle import experiment as lifecycle
from determined.master.services import experiment_files, experiment_view
from determined.master.services import job as jobs
from determined.master.services.metric import moment
from determined.master.services.naming import checked_text
from determined.master.services.retention_days import check_days
from determined.wire.experiment import Experiment, ExperimentState, GetExperimentResponse, ValidationHistoryEntry
from determined.wire.job import JobSummary, ListJobs

_SCHEDULED = (
    ExperimentState.QUEUED,
    ExperimentState.PULLING,
    ExperimentState.STARTING,
    ExperimentState.RUNNING,
)

Verb = Callable[[Connection, datetime, int], None]

VERBS: dict[str, Verb] = {
    "activate": lifecycle.activate,
    "pause": lifecycle.pause,
    "cancel": lifecycle.cancel,
    "kill": lifecycle.kill,
    "archive": lifecycle.archive,
    "unarchive": lifecycle.unarchive,
}


async def get(ctx: MasterContext, experiment_id: int) -> GetExperimentResponse:
    now = ctx.clock.now()
    experiment = await ctx.db.read(lambda conn: experiment_view.one(conn, now, experiment_id))
    summary = await _queued(ctx, experiment) if experiment.state in _SCHEDULED else None
    return GetExperimentResponse(experiment=experiment, config=experiment.config, job_summary=summary)


async def act(ctx: MasterContext, verb: str, experiment_id: int) -> None:
    """Apply one of VERBS. Raises FailedPrecondition where the state does not allow it."""
    await ctx.db.write(lambda conn: VERBS[verb](conn, ctx.clock.now(), experiment_id))
    announce(ctx, experiment_id)


async def delete(ctx: MasterContext, caller: Caller, experiment_id: int) -> None:
    """Begin to delete: background/deletion.py removes files, then rows."""
    await ctx.db.write(lambda conn: begin_delete(conn, ctx.clock.now(), caller, experiment_id))
    announce(ctx, experiment_id)
    ctx.bus.publish("deletion")


def begin_delete(conn: Connection, now: datetime, caller: Caller, experiment_id: int) -> None:
    row = rows.get(conn, experiment_id)
    require_owner(caller, row.owner_id, f"experiment {experiment_id}")
    lifecycle.begin_delete(conn, now, experiment_id)


async def move(ctx: MasterContext, experiment_id: int, project_id: int) -> None:
    await ctx.db.write(lambda conn: move_to(conn, experiment_id, project_id))
    announce(ctx, experiment_id)


def move_to(conn: Connection, experiment_id: int, project_id: int) -> None:
    row = rows.get(conn, experiment_id)
    target = fetch.existing(experiment_edit.is_archived(conn, project_id), f"project {project_id} not found")
    if target:
        raise FailedPrecondition(f"project {project_id} is archived; unarchive it to move experiments there")
    if row.archived or experiment_edit.is_archived(conn, row.project_id):
        raise FailedPrecondition(f"experiment {experiment_id} or its project is archived; unarchive it to move it")
    experiment_edit.set_values(conn, experiment_id, {"project_id": project_id})


async def add_label(ctx: MasterContext, experiment_id: int, label: str) -> list[str]:
    checked_text(label, "label")
    return await _change_labels(ctx, experiment_id, lambda have: have if label in have else [*have, label])


async def remove_label(ctx: MasterContext, experiment_id: int, label: str) -> list[str]:
    return await _change_labels(ctx, experiment_id, lambda have: [name for name in have if name != label])


async def retain_logs(ctx: MasterContext, caller: Caller, experiment_id: int, days: int) -> None:
    check_days(days)
    await ctx.db.write(lambda conn: keep_logs(conn, caller, experiment_id, days))


def keep_logs(conn: Connection, caller: Caller, experiment_id: int, days: int) -> None:
    """Set how long logs are kept. A shorter time deletes logs, so that it takes what a deletion takes."""
    require_owner(caller, rows.get(conn, experiment_id).owner_id, f"experiment {experiment_id}")
    experiment_edit.retain_logs_of_experiment(conn, experiment_id, days)


async def best_metric(ctx: MasterContext, experiment_id: int) -> float:
    """Return the best searcher metric of any trial so far. Raises NotFound before the first one."""

    def read(conn: Connection) -> float:
        rows.get(conn, experiment_id)
        best = experiment_list.best_trials(conn, [experiment_id]).get(experiment_id)
        if best is None:
            raise NotFound(f"experiment {experiment_id} has no validation of its searcher metric yet")
        return best[1]

    return await ctx.db.read(read)


async def validation_history(ctx: MasterContext, experiment_id: int) -> list[ValidationHistoryEntry]:
    """Return each validation that was the experiment's best when it came."""

    def read(conn: Connection) -> list[ValidationHistoryEntry]:
        row = rows.get(conn, experiment_id)
        if row.searcher_metric is None:
            return []
        trial_ids = experiment_list.trial_ids(conn, experiment_id)
        found = validation.history(conn, trial_ids, row.searcher_metric)
        return _records(found, smaller_is_better=row.smaller_is_better)

    return await ctx.db.read(read)


async def delete_tensorboard_files(ctx: MasterContext, caller: Caller, experiment_id: int) -> None:
    row = await ctx.db.read(lambda conn: rows.get(conn, experiment_id))
    require_owner(caller, row.owner_id, f"experiment {experiment_id}")
    await experiment_files.remove_tensorboard(ctx, experiment_id, row.config)


def announce(ctx: MasterContext, experiment_id: int) -> None:
    ctx.bus.publish("schedule", f"experiment:{experiment_id}", "experiments", "gc")


async def _queued(ctx: MasterContext, experiment: Experiment) -> JobSummary | None:
    queued_jobs = await jobs.list_jobs(ctx, ListJobs(resource_pool=experiment.resource_pool))
    return next((job.summary for job in queued_jobs if job.job_id == experiment.job_id), None)


async def _change_labels(ctx: MasterContext, experiment_id: int, change: Callable[[list[str]], list[str]]) -> list[str]:
    def run(conn: Connection) -> list[str]:
        row = rows.get(conn, experiment_id)
        labels = change(row.labels)
        config = {**row.config, "labels": labels}
        experiment_edit.set_values(conn, experiment_id, {"labels": labels, "config": config})
        return labels

    labels = await ctx.db.write(run)
    announce(ctx, experiment_id)
    return labels


def _records(history: list[tuple[float, int, float]], *, smaller_is_better: bool) -> list[ValidationHistoryEntry]:
    records: list[ValidationHistoryEntry] = []
    best: float | None = None
    for time, trial_id, value in history:
        if best is None or (value < best if smaller_is_better else value > best):
            best = value
            records.append(ValidationHistoryEntry(trial_id=trial_id, end_time=moment(time), searcher_metric=value))
    return records
