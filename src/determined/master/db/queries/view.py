"""Rows of saved views."""

from datetime import datetime

from sqlalchemy import Connection, Select, delete, insert, select, update

from determined.master.db import fetch
from determined.master.db.rows.workspaces import SavedView, SavedViewValues
from determined.master.db.schema import saved_views, users


class AuthoredView(SavedView, frozen=True):
    """A saved view with the name of its author."""

    username: str


def list_all(conn: Connection, project_id: int) -> list[AuthoredView]:
    """List the views of a project by name."""
    query = _rows().where(saved_views.c.project_id == project_id).order_by(saved_views.c.name, saved_views.c.id)
    return fetch.rows(conn, query, AuthoredView)


def get(conn: Connection, project_id: int, view_id: int) -> AuthoredView | None:
    v = saved_views.c
    return fetch.row(conn, _rows().where(v.id == view_id, v.project_id == project_id), AuthoredView)


def by_name(conn: Connection, project_id: int, name: str) -> int | None:
    v = saved_views.c
    return conn.execute(select(v.id).where(v.project_id == project_id, v.name == name)).scalar_one_or_none()


def create(conn: Connection, now: datetime, values: SavedViewValues) -> int:
    row: SavedViewValues = {**values, "created_at": now}
    return conn.execute(insert(saved_views).values(**row).returning(saved_views.c.id)).scalar_one()


def change(conn: Connection, view_id: int, values: SavedViewValues) -> None:
    if values:
        conn.execute(update(saved_views).where(saved_views.c.id == view_id).values(**values))


def remove(conn: Connection, view_id: int) -> None:
    conn.execute(delete(saved_views).where(saved_views.c.id == view_id))


def _rows() -> Select[int, int, int, str, str, datetime, str]:
    return select(saved_views, users.c.username).join(users, users.c.id == saved_views.c.user_id)
