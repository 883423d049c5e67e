"""Tables of workspaces and projects, pins, views (seen and saved), pool bindings and templates."""

from datetime import datetime

from sqlalchemy import JSON, Column, ForeignKey, Named, Table, Text, UniqueConstraint, false

from determined._json import JsonObject
from determined.master.db.schema.base import Columns, Id, Time, metadata


class WorkspaceColumns(Columns):
    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    name: Named[str] = Column(unique=True)
    user_id: Named[int] = Column(Id, ForeignKey("users.id"))
    archived: Named[bool] = Column(server_default=false())
    immutable: Named[bool] = Column(server_default=false())
    agent_uid: Named[int | None]
    agent_user: Named[str | None]
    agent_gid: Named[int | None]
    agent_group: Named[str | None]
    checkpoint_storage: Named[JsonObject | None] = Column(JSON(none_as_null=True))
    default_compute_pool: Named[str | None]
    default_aux_pool: Named[str | None]
    created_at: Named[datetime] = Column(Time)
    state: Named[str] = Column(server_default="UNSPECIFIED")  # or DELETING, DELETE_FAILED
    error_message: Named[str] = Column(Text, server_default="")


workspaces = Table("workspaces", metadata, WorkspaceColumns, sqlite_autoincrement=True)


class WorkspacePinColumns(Columns):
    user_id: Named[int] = Column(Id, ForeignKey("users.id"), primary_key=True)
    workspace_id: Named[int] = Column(Id, ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    pinned_at: Named[datetime] = Column(Time)


workspace_pins = Table("workspace_pins", metadata, WorkspacePinColumns)


class ProjectColumns(Columns):
    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    workspace_id: Named[int] = Column(Id, ForeignKey("workspaces.id"), index=True)
    user_id: Named[int] = Column(Id, ForeignKey("users.id"))
    name: Named[str]
    key: Named[str | None] = Column(unique=True)
    description: Named[str] = Column(Text, server_default="")
    notes: Named[list[dict[str, str]]] = Column(JSON)  # [{"name":, "contents":}]
    archived: Named[bool] = Column(server_default=false())
    immutable: Named[bool] = Column(server_default=false())
    created_at: Named[datetime] = Column(Time)
    state: Named[str] = Column(server_default="UNSPECIFIED")
    error_message: Named[str] = Column(Text, server_default="")


projects = Table(
    "projects", metadata, ProjectColumns, UniqueConstraint("workspace_id", "name"), sqlite_autoincrement=True
)


class ProjectViewColumns(Columns):
    """Time at which a user last opened a project, for "recent projects"."""

    user_id: Named[int] = Column(Id, ForeignKey("users.id"), primary_key=True)
    project_id: Named[int] = Column(Id, ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True)
    viewed_at: Named[datetime] = Column(Time)


project_views = Table("project_views", metadata, ProjectViewColumns)


class SavedViewColumns(Columns):
    """Named views of a project's table (columns, filter, sort, grouping), shared with everybody."""

    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    project_id: Named[int] = Column(Id, ForeignKey("projects.id", ondelete="CASCADE"))
    user_id: Named[int] = Column(Id, ForeignKey("users.id"))
    name: Named[str]
    state: Named[str] = Column(Text)  # the query string of the page's address
    created_at: Named[datetime] = Column(Time)


saved_views = Table(
    "saved_views", metadata, SavedViewColumns, UniqueConstraint("project_id", "name"), sqlite_autoincrement=True
)


class PoolBindingColumns(Columns):
    pool: Named[str] = Column(primary_key=True)
    workspace_id: Named[int] = Column(Id, ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)


pool_bindings = Table("pool_bindings", metadata, PoolBindingColumns)


class TemplateColumns(Columns):
    """Partial configs that experiments and tasks are laid over, as they were sent: with their secrets."""

    id: Named[int] = Column(Id, primary_key=True, autoincrement=True)
    name: Named[str] = Column(unique=True)
    workspace_id: Named[int] = Column(Id, ForeignKey("workspaces.id", ondelete="CASCADE"), index=True)
    config: Named[JsonObject] = Column(JSON)
    user_id: Named[int] = Column(Id, ForeignKey("users.id"))  # its owner: who made it
    updated_at: Named[datetime] = Column(Time)


templates = Table("templates", metadata, TemplateColumns, sqlite_autoincrement=True)
