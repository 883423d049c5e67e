"""What a submitted experiment refers to: its project, the experiment it forks, the checkpoint it starts from."""

from typing import Any

from sqlalchemy import Connection, Select, select

from determined.master.db.queries.batching import AnyRow
from determined.master.db.schema import checkpoints, experiments, projects, trials, workspaces

_LEAVING = ("DELETING", "DELETE_FAILED", "DELETED")


def project_by_id(conn: Connection, project_id: int) -> AnyRow | None:
    return conn.execute(_projects().where(projects.c.id == project_id)).first()


def project_by_name(conn: Connection, workspace: str, project: str) -> AnyRow | None:
    return conn.execute(_projects().where(workspaces.c.name == workspace, projects.c.name == project)).first()


def parent(conn: Connection, experiment_id: int) -> AnyRow | None:
    query = (
        select(
            experiments.c.id,
            experiments.c.archived,
            projects.c.archived.label("project_archived"),
            workspaces.c.archived.label("workspace_archived"),
        )
        .join(projects, projects.c.id == experiments.c.project_id)
        .join(workspaces, workspaces.c.id == projects.c.workspace_id)
        .where(experiments.c.id == experiment_id)
    )
    return conn.execute(query).first()


def trial_exists(conn: Connection, trial_id: int) -> bool:
    return conn.execute(select(trials.c.id).where(trials.c.id == trial_id)).first() is not None


def latest_checkpoint(conn: Connection, trial_id: int) -> str | None:
    return conn.execute(select(trials.c.latest_checkpoint).where(trials.c.id == trial_id)).scalar()


def checkpoint_state(conn: Connection, uuid: str) -> str | None:
    """COMPLETED only when it can be started from: one whose files are about to go is "marked for deletion"."""
    query = (
        select(checkpoints.c.state, checkpoints.c.delete_requested_at, experiments.c.state.label("experiment_state"))
        .outerjoin(experiments, experiments.c.id == checkpoints.c.experiment_id)
        .where(checkpoints.c.uuid == uuid)
    )
    row = conn.execute(query).first()
    if row is None:
        return None
    doomed = row.delete_requested_at is not None or row.experiment_state in _LEAVING
    return "marked for deletion" if doomed and row.state == "COMPLETED" else str(row.state)


def _projects() -> Select[*tuple[Any, ...]]:
    return select(
        projects.c.id,
        projects.c.name,
        projects.c.archived,
        projects.c.workspace_id,
        workspaces.c.name.label("workspace_name"),
        workspaces.c.archived.label("workspace_archived"),
        workspaces.c.checkpoint_storage,
        workspaces.c.default_compute_pool,
        workspaces.c.default_aux_pool,
    ).join(workspaces, workspaces.c.id == projects.c.workspace_id)
