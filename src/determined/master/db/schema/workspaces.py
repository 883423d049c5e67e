"""Tables of workspaces and projects, pins, views (seen and saved) and pool bindings."""

from sqlalchemy import JSON, Boolean, Column, ForeignKey, Integer, String, Table, Text, UniqueConstraint, false

from determined.master.db.schema.base import Id, Time, metadata

workspaces = Table(
    "workspaces",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=True),
    Column("name", String, nullable=False, unique=True),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("archived", Boolean, nullable=False, server_default=false()),
    Column("immutable", Boolean, nullable=False, server_default=false()),
    Column("agent_uid", Integer),
    Column("agent_user", String),
    Column("agent_gid", Integer),
    Column("agent_group", String),
    Column("checkpoint_storage", JSON(none_as_null=True)),
    Column("default_compute_pool", String),
    Column("default_aux_pool", String),
    Column("created_at", Time, nullable=False),
    Column("state", String, nullable=False, server_default="UNSPECIFIED"),  # or DELETING, DELETE_FAILED
    Column("error_message", Text, nullable=False, server_default=""),
    sqlite_autoincrement=True,
)

workspace_pins = Table(
    "workspace_pins",
    metadata,
    Column("user_id", ForeignKey("users.id"), primary_key=True),
    Column("workspace_id", ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True),
    Column("pinned_at", Time, nullable=False),
)

projects = Table(
    "projects",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=True),
    Column("workspace_id", ForeignKey("workspaces.id"), nullable=False, index=True),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("name", String, nullable=False),
    Column("key", String, unique=True),
    Column("description", Text, nullable=False, server_default=""),
    Column("notes", JSON, nullable=False),  # [{"name":, "contents":}]
    Column("archived", Boolean, nullable=False, server_default=false()),
    Column("immutable", Boolean, nullable=False, server_default=false()),
    Column("created_at", Time, nullable=False),
    Column("state", String, nullable=False, server_default="UNSPECIFIED"),
    Column("error_message", Text, nullable=False, server_default=""),
    UniqueConstraint("workspace_id", "name"),
    sqlite_autoincrement=True,
)

# What a user looked at last, for "recent projects".
project_views = Table(
    "project_views",
    metadata,
    Column("user_id", ForeignKey("users.id"), primary_key=True),
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("viewed_at", Time, nullable=False),
)

# How somebody looks at a project's table (columns, filter, sort, grouping), kept under a name for everybody.
saved_views = Table(
    "saved_views",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=True),
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("name", String, nullable=False),
    Column("state", Text, nullable=False),  # the query string of the page's address
    Column("created_at", Time, nullable=False),
    UniqueConstraint("project_id", "name"),
    sqlite_autoincrement=True,
)

pool_bindings = Table(
    "pool_bindings",
    metadata,
    Column("pool", String, primary_key=True),
    Column("workspace_id", ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True),
)
