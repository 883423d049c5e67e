"""Tables of the cluster itself: its settings, what people set on nodes, nodes added by hand."""

from sqlalchemy import JSON, Boolean, Column, Integer, String, Table, false

from determined.master.db.schema.base import Time, metadata

# cluster_id, token_secret, heartbeat (last time the master was alive), cluster message, ...
cluster = Table("cluster", metadata, Column("key", String, primary_key=True), Column("value", JSON, nullable=False))

# Enable/disable/drain of nodes and slots, kept apart from what engines report. slot_id -1 = the whole node.
node_overrides = Table(
    "node_overrides",
    metadata,
    Column("node_id", String, primary_key=True),
    Column("slot_id", Integer, primary_key=True),
    Column("enabled", Boolean, nullable=False),
    Column("draining", Boolean, nullable=False, server_default=false()),
)

# Nodes added to the local engine at run time (`det deploy local agent-up`).
local_nodes = Table(
    "local_nodes",
    metadata,
    Column("node_id", String, primary_key=True),
    Column("pool", String, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("created_at", Time, nullable=False),
)
