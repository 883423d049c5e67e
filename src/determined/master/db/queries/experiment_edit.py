"""Changes to experiments that no state depends on: texts, labels, project, log retention."""

from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection, bindparam, select, update

from determined.master.db import fetch
from determined.master.db.rows.experiments import ExperimentValues
from determined.master.db.schema import experiments, projects, tasks, trials, workspaces

_STANDING = select(experiments.c.state, experiments.c.archived, experiments.c.project_id).where(
    experiments.c.id == bindparam("this")
)


class ExperimentStanding(msgspec.Struct, frozen=True):
    """Columns of an experiment that verbs change: comparing two shows whether one did."""

    state: str
    archived: bool
    project_id: int


def standing(conn: Connection, experiment_id: int) -> ExperimentStanding | None:
    return fetch.row(conn, _STANDING, ExperimentStanding, {"this": experiment_id})


def set_values(conn: Connection, experiment_id: int, values: ExperimentValues) -> None:
    if values:
        conn.execute(update(experiments).where(experiments.c.id == experiment_id).values(**values))


def is_archived(conn: Connection, project_id: int) -> bool | None:
    """Tell whether a project or its workspace is archived; None when there is no such project."""
    query = (
        select(projects.c.archived, workspaces.c.archived)
        .join(workspaces, workspaces.c.id == projects.c.workspace_id)
        .where(projects.c.id == project_id)
    )
    row = conn.execute(query).first()
    return None if row is None else any(row)


def retain_logs(conn: Connection, trial_ids: Sequence[int], days: int) -> None:
    conn.execute(update(trials).where(trials.c.id.in_(trial_ids)).values(log_retention_days=days))
    conn.execute(update(tasks).where(tasks.c.trial_id.in_(trial_ids)).values(log_retention_days=days))


def retain_logs_of_experiment(conn: Connection, experiment_id: int, days: int) -> None:
    conn.execute(update(trials).where(trials.c.experiment_id == experiment_id).values(log_retention_days=days))
    conn.execute(update(tasks).where(tasks.c.experiment_id == experiment_id).values(log_retention_days=days))
