"""Tables of the cluster itself: its settings, what people set on nodes, nodes added by hand."""

from datetime import datetime

from sqlalchemy import JSON, Column, Named, Table, false

from determined._json import JsonValue
from determined.master.db.schema.base import Columns, Time, metadata


class ClusterSettingColumns(Columns):
    """Settings by key: cluster_id, token_secret, heartbeat (last time the master was alive), cluster message, ..."""

    key: Named[str] = Column(primary_key=True)
    value: Named[JsonValue] = Column(JSON, nullable=False)


cluster = Table("cluster", metadata, ClusterSettingColumns)


class NodeOverrideColumns(Columns):
    """Nodes and slots that people enabled, disabled or drained; slot_id -1 is the whole node."""

    node_id: Named[str] = Column(primary_key=True)
    slot_id: Named[int] = Column(primary_key=True)
    enabled: Named[bool]
    draining: Named[bool] = Column(server_default=false())


node_overrides = Table("node_overrides", metadata, NodeOverrideColumns)


class LocalNodeColumns(Columns):
    """Nodes added to the local engine at run time (`det deploy local agent-up`)."""

    node_id: Named[str] = Column(primary_key=True)
    pool: Named[str]
    slots: Named[int]
    created_at: Named[datetime] = Column(Time)


local_nodes = Table("local_nodes", metadata, LocalNodeColumns)
