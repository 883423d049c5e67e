"""Rows of saved views."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, insert, select, update

from determined.master.db.queries.batching import AnyRow
from determined.master.db.schema import saved_views, users


def list_all(conn: Connection, project_id: int) -> list[AnyRow]:
    """By name."""
    query = _rows().where(saved_views.c.project_id == project_id).order_by(saved_views.c.name, saved_views.c.id)
    return list(conn.execute(query))


def get(conn: Connection, project_id: int, view_id: int) -> AnyRow | None:
    v = saved_views.c
    return conn.execute(_rows().where(v.id == view_id, v.project_id == project_id)).one_or_none()


def by_name(conn: Connection, project_id: int, name: str) -> int | None:
    v = saved_views.c
    found = conn.execute(select(v.id).where(v.project_id == project_id, v.name == name)).scalar_one_or_none()
    return int(found) if found is not None else None


def create(conn: Connection, now: datetime, values: dict[str, Any]) -> int:
    row = {**values, "created_at": now}
    return int(conn.execute(insert(saved_views).values(row).returning(saved_views.c.id)).scalar_one())


def change(conn: Connection, view_id: int, values: dict[str, Any]) -> None:
    if values:
        conn.execute(update(saved_views).where(saved_views.c.id == view_id).values(**values))


def remove(conn: Connection, view_id: int) -> None:
    conn.execute(delete(saved_views).where(saved_views.c.id == view_id))


def _rows() -> Select[Any]:
    return select(saved_views, users.c.username).join(users, users.c.id == saved_views.c.user_id)
