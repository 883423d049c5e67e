"""Tables of people: users, their sessions and settings."""

from sqlalchemy import Boolean, Column, ForeignKey, Integer, String, Table, Text, false, true

from determined.master.db.schema.base import Id, Time, metadata

users = Table(
    "users",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=True),
    Column("username", String, nullable=False, unique=True),
    Column("display_name", String, nullable=False, server_default=""),
    Column("password_hash", String),  # argon2 of the salted sha512 the client sends; NULL = blank password
    Column("admin", Boolean, nullable=False, server_default=false()),
    Column("active", Boolean, nullable=False, server_default=true()),
    Column("remote", Boolean, nullable=False, server_default=false()),
    Column("agent_uid", Integer),
    Column("agent_user", String),
    Column("agent_gid", Integer),
    Column("agent_group", String),
    Column("created_at", Time, nullable=False),
    Column("modified_at", Time, nullable=False),
    Column("last_auth_at", Time),
    sqlite_autoincrement=True,
)

# kind: "session" (login) or "access" (access token)
sessions = Table(
    "sessions",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=True),
    Column("user_id", ForeignKey("users.id"), nullable=False, index=True),
    Column("token_hash", String, nullable=False, unique=True),
    Column("kind", String, nullable=False),
    Column("description", String, nullable=False, server_default=""),
    Column("created_at", Time, nullable=False),
    Column("expires_at", Time),
    Column("revoked_at", Time),
    # the login or access token whose link opened it; it is worth nothing without that
    Column("parent_id", Id),
    sqlite_autoincrement=True,
)

user_settings = Table(
    "user_settings",
    metadata,
    Column("user_id", ForeignKey("users.id"), primary_key=True),
    Column("storage_path", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("value", Text),
)
