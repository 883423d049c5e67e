"""Rows of sessions and access tokens, and the state of allocations that decides about their tokens."""

from collections.abc import Collection
from datetime import datetime
from enum import StrEnum

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Nullable,
    Select,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from determined.master.db import fetch
from determined.master.db.prepared import prepare
from determined.master.db.rows.users import SessionValues
from determined.master.db.schema import allocations, experiments, jobs, sessions, tasks, users

_parents = sessions.alias("parents")
_NOW = bindparam("now", type_=sessions.c.expires_at.type)


def _holds(revoked_at: Column[datetime | None], expires_at: Column[datetime | None]) -> ColumnElement[bool]:
    return and_(revoked_at.is_(None), or_(expires_at.is_(None), expires_at > _NOW))


# Sessions that are neither revoked nor expired, and whose parent, if any, is not either. Built once, because every
# request of a user asks it, and building it costs more than running it.
_LIVE = (
    select(
        sessions.c.id.label("session_id"),
        sessions.c.user_id,
        users.c.username,
        users.c.admin,
        users.c.active,
        sessions.c.expires_at,
        sessions.c.kind,
        sessions.c.parent_id,
        Nullable(_parents.c.kind.label("parent_kind")),
    )
    .join(users, users.c.id == sessions.c.user_id)
    .outerjoin(_parents, _parents.c.id == sessions.c.parent_id)
    .where(
        _holds(sessions.c.revoked_at, sessions.c.expires_at),
        or_(
            sessions.c.parent_id.is_(None),
            and_(_parents.c.id.is_not(None), _holds(_parents.c.revoked_at, _parents.c.expires_at)),
        ),
    )
)
_LIVE_BY_TOKEN = prepare(_LIVE.where(sessions.c.token_hash == bindparam("token")))
_LIVE_BY_ID = _LIVE.where(sessions.c.id == bindparam("session"))


class SessionKind(StrEnum):
    SESSION = "session"
    ACCESS = "access"


class Holder(msgspec.Struct, frozen=True):
    """A live session with its user and the session that opened it."""

    session_id: int
    user_id: int
    username: str
    admin: bool
    active: bool
    expires_at: datetime | None
    kind: str
    parent_id: int | None
    parent_kind: str | None

    @property
    def is_access_token(self) -> bool:
        """Kind of the session: true for an access token and for a session that one has opened by a link."""
        return SessionKind.ACCESS in (self.kind, self.parent_kind)


class AccessToken(msgspec.Struct, frozen=True):
    id: int
    user_id: int
    username: str
    kind: str
    description: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


class AllocationAuth(msgspec.Struct, frozen=True):
    """State that decides about an allocation token. `drained`: all reports of the allocation are written."""

    user_id: int
    username: str
    admin: bool
    active: bool
    state: str
    drained: bool
    task_id: str
    task_type: str
    trial_id: int | None
    experiment_id: int | None


# Built once, because every request of a task asks it, and building it costs more than running it.
_ALLOCATION_AUTH = prepare(
    select(
        users.c.id.label("user_id"),
        users.c.username,
        users.c.admin,
        users.c.active,
        allocations.c.state,
        allocations.c.drained,
        tasks.c.id.label("task_id"),
        tasks.c.type.label("task_type"),
        tasks.c.trial_id,
        tasks.c.experiment_id,
    )
    .select_from(allocations)
    .join(tasks, tasks.c.id == allocations.c.task_id)
    .outerjoin(jobs, jobs.c.id == tasks.c.job_id)
    .outerjoin(experiments, experiments.c.id == tasks.c.experiment_id)
    .join(users, users.c.id == func.coalesce(jobs.c.owner_id, experiments.c.owner_id))
    .where(allocations.c.id == bindparam("allocation"))
)


def create(
    conn: Connection,
    now: datetime,
    *,
    user_id: int,
    token_hash: str,
    kind: SessionKind,
    expires_at: datetime | None,
    description: str = "",
    parent_id: int | None = None,
) -> int:
    """Insert a session; it ends with the session `parent_id`."""
    row: SessionValues = {
        "user_id": user_id,
        "token_hash": token_hash,
        "kind": kind.value,
        "description": description,
        "created_at": now,
        "expires_at": expires_at,
        "parent_id": parent_id,
    }
    return conn.execute(insert(sessions).values(**row).returning(sessions.c.id)).scalar_one()


def holder(conn: Connection, now: datetime, token_hash: str) -> Holder | None:
    """Find the live session of a token: None for an unknown, expired or revoked one."""
    return fetch.row(conn, _LIVE_BY_TOKEN, Holder, {"now": now, "token": token_hash})


def live(conn: Connection, now: datetime, session_id: int) -> Holder | None:
    """Find a live session: None for one that has ended, expired or been revoked."""
    return fetch.row(conn, _LIVE_BY_ID, Holder, {"now": now, "session": session_id})


def live_among(conn: Connection, now: datetime, session_ids: Collection[int | None]) -> set[int]:
    """Keep the sessions that still let their active user in."""
    ids = [session_id for session_id in session_ids if session_id is not None]
    if not ids:
        return set()
    query = _LIVE.where(sessions.c.id.in_(ids), users.c.active)
    return {holder.session_id for holder in fetch.rows(conn, query, Holder, {"now": now})}


def end(conn: Connection, session_id: int) -> None:
    """End a session and those that it has opened by links."""
    conn.execute(delete(sessions).where(or_(sessions.c.id == session_id, sessions.c.parent_id == session_id)))


def end_all(conn: Connection, now: datetime, user_id: int, *, keep: int | None = None) -> None:
    """End the logins of a user and revoke the access tokens, except the one with the id `keep`."""
    others = [sessions.c.user_id == user_id, *([sessions.c.id != keep] if keep is not None else [])]
    conn.execute(delete(sessions).where(*others, sessions.c.kind == SessionKind.SESSION.value))
    conn.execute(update(sessions).where(*others, sessions.c.revoked_at.is_(None)).values(revoked_at=now))
    if keep is not None:
        conn.execute(update(sessions).where(sessions.c.id == keep).values(parent_id=None))  # its parent may be gone


def sweep(conn: Connection, now: datetime) -> int:
    """Remove logins that have expired. Expired access tokens stay for the record."""
    statement = delete(sessions).where(sessions.c.kind == SessionKind.SESSION.value, sessions.c.expires_at <= now)
    return conn.execute(statement).rowcount


def access_token(conn: Connection, token_id: int) -> AccessToken | None:
    return fetch.row(conn, _tokens().where(sessions.c.id == token_id), AccessToken)


def access_tokens(conn: Connection) -> list[AccessToken]:
    return fetch.rows(conn, _tokens().order_by(sessions.c.id), AccessToken)


def change_access_token(conn: Connection, token_id: int, values: SessionValues) -> None:
    conn.execute(update(sessions).where(sessions.c.id == token_id).values(**values))


def allocation_auth(conn: Connection, allocation_id: str) -> AllocationAuth | None:
    """Find the owner of an allocation's task and the state of the allocation."""
    return fetch.row(conn, _ALLOCATION_AUTH, AllocationAuth, {"allocation": allocation_id})


def _tokens() -> Select[int, int, str, str, str, datetime, datetime | None, datetime | None]:
    s = sessions.c
    return (
        select(s.id, s.user_id, users.c.username, s.kind, s.description, s.created_at, s.expires_at, s.revoked_at)
        .join(users, users.c.id == s.user_id)
        .where(s.kind == SessionKind.ACCESS.value)
    )
