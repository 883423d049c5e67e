"""Tables of people: users, their sessions and settings."""

from datetime import datetime

from sqlalchemy import Column, ForeignKey, Named, Table, Text, false, true

from determined.master.db.schema.base import Columns, Id, Time, metadata


class UserColumns(Columns):
    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    username: Named[str] = Column(unique=True)
    display_name: Named[str] = Column(server_default="")
    password_hash: Named[str | None]  # argon2 of the salted sha512 the client sends; NULL = blank password
    admin: Named[bool] = Column(server_default=false())
    active: Named[bool] = Column(server_default=true())
    remote: Named[bool] = Column(server_default=false())
    agent_uid: Named[int | None]
    agent_user: Named[str | None]
    agent_gid: Named[int | None]
    agent_group: Named[str | None]
    created_at: Named[datetime] = Column(Time)
    modified_at: Named[datetime] = Column(Time)
    last_auth_at: Named[datetime | None] = Column(Time)


users = Table("users", metadata, UserColumns, sqlite_autoincrement=True)


class SessionColumns(Columns):
    """Login sessions and access tokens; `kind` is "session" or "access"."""

    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    user_id: Named[int] = Column(Id, ForeignKey("users.id"), index=True)
    token_hash: Named[str] = Column(unique=True)
    kind: Named[str]
    description: Named[str] = Column(server_default="")
    created_at: Named[datetime] = Column(Time)
    expires_at: Named[datetime | None] = Column(Time)
    revoked_at: Named[datetime | None] = Column(Time)
    # the login or access token whose link opened it; it is worth nothing without that
    parent_id: Named[int | None] = Column(Id)


sessions = Table("sessions", metadata, SessionColumns, sqlite_autoincrement=True)


class UserSettingColumns(Columns):
    user_id: Named[int] = Column(Id, ForeignKey("users.id"), primary_key=True)
    storage_path: Named[str] = Column(primary_key=True)
    key: Named[str] = Column(primary_key=True)
    value: Named[str | None] = Column(Text)


user_settings = Table("user_settings", metadata, UserSettingColumns)
