"""Rows of users and their settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from determined.master.db.dialects import upsert
from determined.master.db.schema import user_settings, users


@dataclass(frozen=True, slots=True)
class UserRow:
    id: int
    username: str
    display_name: str
    password_hash: str | None
    admin: bool
    active: bool
    remote: bool
    agent_uid: int | None
    agent_user: str | None
    agent_gid: int | None
    agent_group: str | None
    created_at: datetime
    modified_at: datetime
    last_auth_at: datetime | None


def get(conn: Connection, user_id: int) -> UserRow | None:
    return _one(conn, users.c.id == user_id)


def by_name(conn: Connection, username: str) -> UserRow | None:
    """Names are compared without case, as upstream stores them in lower case."""
    return _one(conn, users.c.username == username.lower())


def list_all(conn: Connection) -> list[UserRow]:
    return [UserRow(**row) for row in conn.execute(select(users).order_by(users.c.id)).mappings()]


def create(conn: Connection, now: datetime, values: dict[str, Any]) -> int:
    """`values`: columns of `users` without the times."""
    row = {**values, "username": values["username"].lower(), "created_at": now, "modified_at": now}
    return int(conn.execute(insert(users).values(row).returning(users.c.id)).scalar_one())


def change(conn: Connection, now: datetime, user_id: int, values: dict[str, Any]) -> None:
    conn.execute(update(users).where(users.c.id == user_id).values(**values, modified_at=now))


def touch_login(conn: Connection, now: datetime, user_id: int) -> None:
    conn.execute(update(users).where(users.c.id == user_id).values(last_auth_at=now))


def active_admins(conn: Connection) -> int:
    statement = select(func.count()).where(users.c.admin, users.c.active)
    return int(conn.execute(statement).scalar_one())


def settings(conn: Connection, user_id: int) -> Sequence[tuple[str, str, str | None]]:
    """(storage path, key, value)."""
    c = user_settings.c
    statement = select(c.storage_path, c.key, c.value).where(c.user_id == user_id).order_by(c.storage_path, c.key)
    return [(row[0], row[1], row[2]) for row in conn.execute(statement)]


def put_settings(conn: Connection, user_id: int, rows: Sequence[tuple[str, str, str | None]]) -> None:
    # one at a time: a request may name the same key twice, which one INSERT .. ON CONFLICT refuses
    for path, key, value in rows:
        values = {"user_id": user_id, "storage_path": path, "key": key, "value": value}
        upsert(conn, user_settings, values, ["user_id", "storage_path", "key"])


def reset_settings(conn: Connection, user_id: int) -> None:
    conn.execute(delete(user_settings).where(user_settings.c.user_id == user_id))


def _one(conn: Connection, condition: Any) -> UserRow | None:
    row = conn.execute(select(users).where(condition)).mappings().one_or_none()
    return UserRow(**row) if row else None
