"""Rows of environment locks: the first that is stored for a platform stays."""

from datetime import datetime

from sqlalchemy import Connection, delete, insert, literal, select

from determined.master.db import fetch
from determined.master.db.rows.experiments import EnvironmentLock, EnvironmentLockValues
from determined.master.db.schema import environment_locks

_locks = environment_locks.c


def list_all(conn: Connection, experiment_id: int) -> list[EnvironmentLock]:
    query = select(environment_locks).where(_locks.experiment_id == experiment_id).order_by(_locks.platform)
    return fetch.rows(conn, query, EnvironmentLock)


def get(conn: Connection, experiment_id: int, platform: str) -> str | None:
    query = select(_locks.content).where(_locks.experiment_id == experiment_id, _locks.platform == platform)
    return conn.execute(query).scalar_one_or_none()


def put(conn: Connection, now: datetime, experiment_id: int, platform: str, content: str) -> None:
    values: EnvironmentLockValues = {
        "experiment_id": experiment_id,
        "platform": platform,
        "content": content,
        "created_at": now,
    }
    conn.execute(insert(environment_locks).values(**values))


def copy(conn: Connection, source_id: int, experiment_id: int) -> None:
    """Give an experiment the locks of another one."""
    columns = ["experiment_id", "platform", "content", "created_at"]
    rows = select(literal(experiment_id), _locks.platform, _locks.content, _locks.created_at).where(
        _locks.experiment_id == source_id
    )
    conn.execute(insert(environment_locks).from_select(columns, rows))


def forget(conn: Connection, experiment_id: int) -> None:
    conn.execute(delete(environment_locks).where(_locks.experiment_id == experiment_id))
