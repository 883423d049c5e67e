"""Rows of sessions and access tokens, and what the state of an allocation says about its token."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, or_, select, update

from determined.master.db.schema import allocations, experiments, jobs, sessions, tasks, users


class SessionKind(StrEnum):
    SESSION = "session"
    ACCESS = "access"


@dataclass(frozen=True, slots=True)
class Holder:
    """Whose session a token is."""

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
        """Whether an access token stands behind it: it is one, or one has opened it by a link."""
        return SessionKind.ACCESS in (self.kind, self.parent_kind)


@dataclass(frozen=True, slots=True)
class TokenRow:
    id: int
    user_id: int
    username: str
    kind: str
    description: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class AllocationAuth:
    """What decides about an allocation token. `ended`: TERMINATED. `drained`: all its reports are written."""

    user_id: int
    username: str
    admin: bool
    state: str
    drained: bool
    task_id: str
    trial_id: int | None
    experiment_id: int | None


# Built once, because every request of a task asks it, and building it costs more than running it.
_ALLOCATION_AUTH = (
    select(users.c.id, users.c.username, users.c.admin, allocations.c.state, allocations.c.drained)
    .add_columns(tasks.c.id, tasks.c.trial_id, tasks.c.experiment_id)
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
    """`parent_id`: the session that it ends with."""
    row = {
        "user_id": user_id,
        "token_hash": token_hash,
        "kind": kind.value,
        "description": description,
        "created_at": now,
        "expires_at": expires_at,
        "parent_id": parent_id,
    }
    return int(conn.execute(insert(sessions).values(row).returning(sessions.c.id)).scalar_one())


def holder(conn: Connection, now: datetime, token_hash: str) -> Holder | None:
    """None for an unknown, expired or revoked token."""
    row = conn.execute(_live(now).where(sessions.c.token_hash == token_hash)).one_or_none()
    return Holder(*row) if row else None


def live(conn: Connection, now: datetime, session_id: int) -> Holder | None:
    """None for a session that has ended, expired or been revoked."""
    row = conn.execute(_live(now).where(sessions.c.id == session_id)).one_or_none()
    return Holder(*row) if row else None


def live_among(conn: Connection, now: datetime, session_ids: Collection[int | None]) -> set[int]:
    """Those of these sessions that still let their active user in."""
    asked = [session_id for session_id in session_ids if session_id is not None]
    found = conn.execute(_live(now).where(sessions.c.id.in_(asked), users.c.active)) if asked else ()
    return {row.id for row in found}


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
    return int(conn.execute(statement).rowcount)


def access_token(conn: Connection, token_id: int) -> TokenRow | None:
    row = conn.execute(_tokens().where(sessions.c.id == token_id)).one_or_none()
    return TokenRow(*row) if row else None


def access_tokens(conn: Connection) -> list[TokenRow]:
    return [TokenRow(*row) for row in conn.execute(_tokens().order_by(sessions.c.id))]


def change_access_token(conn: Connection, token_id: int, values: dict[str, Any]) -> None:
    conn.execute(update(sessions).where(sessions.c.id == token_id).values(**values))


def allocation_auth(conn: Connection, allocation_id: str) -> AllocationAuth | None:
    """The owner of an allocation's task and how far the allocation has come."""
    row = conn.execute(_ALLOCATION_AUTH, {"allocation": allocation_id}).one_or_none()
    return AllocationAuth(*row) if row else None


def _live(now: datetime) -> Any:
    """A session lives while it is neither revoked nor expired, and its parent lives."""
    s, u, parent = sessions.c, users.c, _parents.c
    return (
        select(s.id, s.user_id, u.username, u.admin, u.active, s.expires_at, s.kind, s.parent_id, parent.kind)
        .join(users, u.id == s.user_id)
        .outerjoin(_parents, parent.id == s.parent_id)
        .where(_holds(s, now), or_(s.parent_id.is_(None), and_(parent.id.is_not(None), _holds(parent, now))))
    )


_parents = sessions.alias("parents")


def _holds(row: Any, now: datetime) -> Any:
    return and_(row.revoked_at.is_(None), or_(row.expires_at.is_(None), row.expires_at > now))


def _tokens() -> Any:
    s = sessions.c
    return (
        select(s.id, s.user_id, users.c.username, s.kind, s.description, s.created_at, s.expires_at, s.revoked_at)
        .join(users, users.c.id == s.user_id)
        .where(s.kind == SessionKind.ACCESS.value)
    )
