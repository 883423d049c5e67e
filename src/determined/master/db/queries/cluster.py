"""The key-value rows of the cluster itself: its identity, its secret, the message shown to everybody."""

from typing import Any

from sqlalchemy import Connection, delete, select

from determined.master.db.dialects import upsert
from determined.master.db.schema import cluster

CLUSTER_ID = "cluster_id"
TOKEN_SECRET = "token_secret"
MESSAGE = "message"


def get(conn: Connection, key: str) -> Any:
    """None when there is no such row."""
    return conn.execute(select(cluster.c.value).where(cluster.c.key == key)).scalar_one_or_none()


def put(conn: Connection, key: str, value: Any) -> None:
    upsert(conn, cluster, {"key": key, "value": value}, ["key"])


def remove(conn: Connection, key: str) -> None:
    conn.execute(delete(cluster).where(cluster.c.key == key))
