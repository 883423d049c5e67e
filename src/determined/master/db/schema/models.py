"""Tables of the model registry: models, versions, aliases of versions and the history of those."""

from datetime import datetime

from sqlalchemy import JSON, Column, ForeignKey, Named, Table, Text, UniqueConstraint, false

from determined._json import JsonObject
from determined.master.db.schema.base import Columns, Id, Time, metadata


class ModelColumns(Columns):
    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    name: Named[str] = Column(unique=True)
    description: Named[str] = Column(Text, server_default="")
    metadata: Named[JsonObject] = Column(JSON)
    labels: Named[list[str]] = Column(JSON)
    notes: Named[str] = Column(Text, server_default="")
    user_id: Named[int] = Column(Id, ForeignKey("users.id"))
    workspace_id: Named[int] = Column(Id, ForeignKey("workspaces.id"), index=True)
    archived: Named[bool] = Column(server_default=false())
    last_version: Named[int] = Column(server_default="0")  # highest number ever given, also to a deleted version
    num_versions: Named[int] = Column(server_default="0")
    created_at: Named[datetime] = Column(Time)
    updated_at: Named[datetime] = Column(Time)


models = Table("models", metadata, ModelColumns, sqlite_autoincrement=True)


class ModelVersionColumns(Columns):
    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    model_id: Named[int] = Column(Id, ForeignKey("models.id", ondelete="CASCADE"))
    version: Named[int]
    # no cascade: the database itself refuses to delete a registered checkpoint
    checkpoint_uuid: Named[str] = Column(ForeignKey("checkpoints.uuid"), index=True)
    user_id: Named[int] = Column(Id, ForeignKey("users.id"))
    name: Named[str] = Column(server_default="")
    comment: Named[str] = Column(Text, server_default="")
    notes: Named[str] = Column(Text, server_default="")
    metadata: Named[JsonObject] = Column(JSON)
    labels: Named[list[str]] = Column(JSON)
    created_at: Named[datetime] = Column(Time)
    updated_at: Named[datetime] = Column(Time)


model_versions = Table(
    "model_versions",
    metadata,
    ModelVersionColumns,
    UniqueConstraint("model_id", "version"),
    sqlite_autoincrement=True,
)


class ModelAliasColumns(Columns):
    """Name of a version that can be moved to another: `production`."""

    model_id: Named[int] = Column(Id, ForeignKey("models.id", ondelete="CASCADE"), primary_key=True)
    alias: Named[str] = Column(primary_key=True)
    version: Named[int]
    user_id: Named[int] = Column(Id, ForeignKey("users.id"))
    set_at: Named[datetime] = Column(Time)


model_aliases = Table("model_aliases", metadata, ModelAliasColumns)


class ModelAliasChangeColumns(Columns):
    """Change of an alias: it was set, moved (`previous_version`) or removed (no `version`)."""

    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    model_id: Named[int] = Column(Id, ForeignKey("models.id", ondelete="CASCADE"), index=True)
    alias: Named[str]
    version: Named[int | None]
    previous_version: Named[int | None]
    user_id: Named[int] = Column(Id, ForeignKey("users.id"))
    changed_at: Named[datetime] = Column(Time)


model_alias_changes = Table("model_alias_changes", metadata, ModelAliasChangeColumns, sqlite_autoincrement=True)
