"""Workspaces and projects that are being deleted with what is in them. Their rows are the queue."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Row, select, update

from determined.master.db.schema import experiments, projects, workspaces

DELETING, DELETE_FAILED = "DELETING", "DELETE_FAILED"


@dataclass(frozen=True, slots=True)
class Place:
    """A project, or a workspace with all of its projects."""

    workspace_id: int | None = None
    project_id: int | None = None


def experiments_in(
    conn: Connection, place: Place, limit: int | None = None
) -> Sequence[Row[int, int, str, str | None]]:
    """Id, owner, state and error of the experiments of a place, by id."""
    query = (
        select(experiments.c.id, experiments.c.owner_id, experiments.c.state, experiments.c.error)
        .join(projects, projects.c.id == experiments.c.project_id)
        .where(_projects(place))
    )
    return conn.execute(query.order_by(experiments.c.id).limit(limit)).all()


def untouched(conn: Connection, place: Place, limit: int) -> Sequence[int]:
    """Return experiments of a place whose own deletion has not begun, or has failed before."""
    query = select(experiments.c.id).join(projects, projects.c.id == experiments.c.project_id)
    chosen = _projects(place), experiments.c.state != DELETING
    return conn.execute(query.where(*chosen).order_by(experiments.c.id).limit(limit)).scalars().all()


def mark(conn: Connection, place: Place, state: str, error: str = "") -> None:
    """Set the state of the place and of its projects. Archived as well: nothing comes into it or leaves it."""
    values = {"state": state, "error_message": error, "archived": True}
    if place.workspace_id is not None:
        conn.execute(update(workspaces).where(workspaces.c.id == place.workspace_id).values(**values))
    conn.execute(update(projects).where(_projects(place)).values(**values))


def waiting(conn: Connection) -> list[Place]:
    """List the places that are DELETING, workspaces first; projects of such a workspace go with it."""
    whole = conn.execute(select(workspaces.c.id).where(workspaces.c.state == DELETING)).scalars().all()
    alone = select(projects.c.id).where(projects.c.state == DELETING, projects.c.workspace_id.not_in(whole))
    return [*(Place(workspace_id=w) for w in whole), *(Place(project_id=p) for p in conn.execute(alone).scalars())]


def _projects(place: Place) -> ColumnElement[bool]:
    if place.workspace_id is not None:
        return projects.c.workspace_id == place.workspace_id
    return projects.c.id == place.project_id
