"""Rows of users and their settings."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from determined.master.db import fetch
from determined.master.db.dialects import upsert
from determined.master.db.rows.users import User, UserSettingValues, UserValues
from determined.master.db.schema import user_settings, users


def get(conn: Connection, user_id: int) -> User | None:
    return _one(conn, users.c.id == user_id)


def by_name(conn: Connection, username: str) -> User | None:
    """Find a user by name, whatever its case: names are stored in lower case."""
    return _one(conn, users.c.username == username.lower())


def list_all(conn: Connection) -> list[User]:
    return fetch.rows(conn, select(users).order_by(users.c.id), User)


def create(conn: Connection, now: datetime, values: UserValues) -> int:
    """Insert a user from the columns of `users` without the times; return the id."""
    row: UserValues = {**values, "username": values["username"].lower(), "created_at": now, "modified_at": now}
    return conn.execute(insert(users).values(**row).returning(users.c.id)).scalar_one()


def change(conn: Connection, now: datetime, user_id: int, values: UserValues) -> None:
    conn.execute(update(users).where(users.c.id == user_id).values(**values, modified_at=now))


def touch_login(conn: Connection, now: datetime, user_id: int) -> None:
    conn.execute(update(users).where(users.c.id == user_id).values(last_auth_at=now))


def active_admins(conn: Connection) -> int:
    statement = select(func.count()).where(users.c.admin, users.c.active)
    return conn.execute(statement).scalar_one()


def settings(conn: Connection, user_id: int) -> Sequence[tuple[str, str, str | None]]:
    """List (storage path, key, value) in the order of path and key."""
    c = user_settings.c
    statement = select(c.storage_path, c.key, c.value).where(c.user_id == user_id).order_by(c.storage_path, c.key)
    return [(path, key, value) for path, key, value in conn.execute(statement)]


def put_settings(conn: Connection, user_id: int, rows: Sequence[tuple[str, str, str | None]]) -> None:
    # one at a time: a request may name the same key twice, which one INSERT .. ON CONFLICT refuses
    for path, key, value in rows:
        values: UserSettingValues = {"user_id": user_id, "storage_path": path, "key": key, "value": value}
        upsert(conn, user_settings, values, ["user_id", "storage_path", "key"])


def reset_settings(conn: Connection, user_id: int) -> None:
    conn.execute(delete(user_settings).where(user_settings.c.user_id == user_id))


def _one(conn: Connection, condition: ColumnElement[bool]) -> User | None:
    return fetch.row(conn, select(users).where(condition), User)
