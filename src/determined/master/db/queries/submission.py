"""Things that a submitted experiment refers to: its project, the experiment it forks, the checkpoint it starts from."""

import msgspec
from sqlalchemy import Connection, select

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.schema import checkpoints, experiments, projects, trials, workspaces

_LEAVING = ("DELETING", "DELETE_FAILED", "DELETED")


class ProjectOfExperiment(msgspec.Struct, frozen=True):
    """Project that an experiment goes into, with the defaults of its workspace."""

    id: int
    name: str
    archived: bool
    workspace_id: int
    workspace_name: str
    workspace_archived: bool
    checkpoint_storage: JsonObject | None
    default_compute_pool: str | None
    default_aux_pool: str | None


class ParentExperiment(msgspec.Struct, frozen=True):
    id: int
    archived: bool
    unmanaged: bool
    project_archived: bool
    workspace_archived: bool


_PROJECTS = select(
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


def project_by_id(conn: Connection, project_id: int) -> ProjectOfExperiment | None:
    return fetch.row(conn, _PROJECTS.where(projects.c.id == project_id), ProjectOfExperiment)


def project_by_name(conn: Connection, workspace: str, project: str) -> ProjectOfExperiment | None:
    named = _PROJECTS.where(workspaces.c.name == workspace, projects.c.name == project)
    return fetch.row(conn, named, ProjectOfExperiment)


def parent(conn: Connection, experiment_id: int) -> ParentExperiment | None:
    query = (
        select(
            experiments.c.id,
            experiments.c.archived,
            experiments.c.unmanaged,
            projects.c.archived.label("project_archived"),
            workspaces.c.archived.label("workspace_archived"),
        )
        .join(projects, projects.c.id == experiments.c.project_id)
        .join(workspaces, workspaces.c.id == projects.c.workspace_id)
        .where(experiments.c.id == experiment_id)
    )
    return fetch.row(conn, query, ParentExperiment)


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
    state, delete_requested_at, experiment_state = row
    doomed = delete_requested_at is not None or experiment_state in _LEAVING
    return "marked for deletion" if doomed and state == "COMPLETED" else state
