"""The key-value rows of the cluster itself: its identity, its secret, the message shown to everybody."""

from sqlalchemy import Connection, delete, select

from determined._json import JsonValue
from determined.master.db.dialects import upsert
from determined.master.db.rows.cluster import ClusterSettingValues
from determined.master.db.schema import cluster

CLUSTER_ID = "cluster_id"
TOKEN_SECRET = "token_secret"
MESSAGE = "message"


def get(conn: Connection, key: str) -> JsonValue:
    """Return a setting, None when there is no such row."""
    return conn.execute(select(cluster.c.value).where(cluster.c.key == key)).scalar_one_or_none()


def put(conn: Connection, key: str, value: JsonValue) -> None:
    values: ClusterSettingValues = {"key": key, "value": value}
    upsert(conn, cluster, values, ["key"])


def remove(conn: Connection, key: str) -> None:
    conn.execute(delete(cluster).where(cluster.c.key == key))
