"""The columns that `/stream` tells of each noun, by id; the rest is fetched by whoever needs it."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from determined.master.db.queries.batching import AnyRow, batches
from determined.master.db.queries.displayed import allocation_rank
from determined.master.db.schema import allocations, checkpoints, experiments, jobs, projects, tasks, trials, workspaces

_PROJECT = (*projects.c, workspaces.c.archived.label("workspace_archived"))
_EXPERIMENT = tuple(
    experiments.c[name]
    for name in ("id", "project_id", "owner_id", "job_id", "state", "name", "progress", "archived", "unmanaged",
                 "start_time", "end_time")
)  # fmt: skip
_TRIAL = tuple(
    trials.c[name]
    for name in ("id", "experiment_id", "state", "restarts", "steps_completed", "best_validation_value",
                 "checkpoint_count", "runner_state", "start_time", "end_time")
)  # fmt: skip
_CHECKPOINT = tuple(
    checkpoints.c[name]
    for name in ("uuid", "experiment_id", "trial_id", "state", "steps_completed", "size", "report_time")
)
_TASK = tuple(tasks.c[name] for name in ("id", "type", "trial_id", "experiment_id", "job_id", "start_time", "end_time"))
_JOB = tuple(jobs.c[name] for name in ("id", "type", "owner_id", "workspace_id", "pool", "priority", "weight"))


def of_projects(conn: Connection, ids: Sequence[int]) -> list[AnyRow]:
    query = select(*_PROJECT).join(workspaces, workspaces.c.id == projects.c.workspace_id)
    return [row for some in batches(ids) for row in conn.execute(query.where(projects.c.id.in_(some)))]


def of_experiments(conn: Connection, ids: Sequence[int]) -> list[AnyRow]:
    query = select(*_EXPERIMENT)
    return [row for some in batches(ids) for row in conn.execute(query.where(experiments.c.id.in_(some)))]


def of_trials(conn: Connection, ids: Sequence[int]) -> list[AnyRow]:
    query = select(*_TRIAL, experiments.c.unmanaged).join(experiments, experiments.c.id == trials.c.experiment_id)
    return [row for some in batches(ids) for row in conn.execute(query.where(trials.c.id.in_(some)))]


def of_checkpoints(conn: Connection, uuids: Sequence[str]) -> list[AnyRow]:
    query = select(*_CHECKPOINT)
    return [row for some in batches(uuids) for row in conn.execute(query.where(checkpoints.c.uuid.in_(some)))]


def of_tasks(conn: Connection, ids: Sequence[str]) -> list[AnyRow]:
    return [row for some in batches(ids) for row in conn.execute(select(*_TASK).where(tasks.c.id.in_(some)))]


def task_states(conn: Connection, ids: Sequence[str]) -> dict[str, str]:
    """task -> state of its live allocation."""
    found: dict[str, str] = {}
    for some in batches(ids):
        query = select(allocations.c.task_id, allocations.c.state).where(
            allocations.c.task_id.in_(some), allocations.c.ended_at.is_(None)
        )
        found.update((task, state) for task, state in conn.execute(query.order_by(allocation_rank())))
    return found


def of_jobs(conn: Connection, ids: Sequence[str]) -> list[AnyRow]:
    return [row for some in batches(ids) for row in conn.execute(select(*_JOB).where(jobs.c.id.in_(some)))]
