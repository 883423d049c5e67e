"""Rows of workspaces and projects, pins, views (seen and saved), pool bindings and templates.

Written by scripts/make_rows.py from db/schema/workspaces.py; do not edit.
"""

from datetime import datetime
from typing import TypedDict

import msgspec

from determined._json import JsonObject


class Workspace(msgspec.Struct, frozen=True):
    id: int
    name: str
    user_id: int
    archived: bool
    immutable: bool
    agent_uid: int | None
    agent_user: str | None
    agent_gid: int | None
    agent_group: str | None
    checkpoint_storage: JsonObject | None
    default_compute_pool: str | None
    default_aux_pool: str | None
    created_at: datetime
    state: str
    error_message: str


class WorkspaceValues(TypedDict, total=False):
    id: int
    name: str
    user_id: int
    archived: bool
    immutable: bool
    agent_uid: int | None
    agent_user: str | None
    agent_gid: int | None
    agent_group: str | None
    checkpoint_storage: JsonObject | None
    default_compute_pool: str | None
    default_aux_pool: str | None
    created_at: datetime
    state: str
    error_message: str


class WorkspacePinValues(TypedDict, total=False):
    user_id: int
    workspace_id: int
    pinned_at: datetime


class Project(msgspec.Struct, frozen=True):
    id: int
    workspace_id: int
    user_id: int
    name: str
    key: str | None
    description: str
    notes: list[dict[str, str]]
    archived: bool
    immutable: bool
    created_at: datetime
    state: str
    error_message: str


class ProjectValues(TypedDict, total=False):
    id: int
    workspace_id: int
    user_id: int
    name: str
    key: str | None
    description: str
    notes: list[dict[str, str]]
    archived: bool
    immutable: bool
    created_at: datetime
    state: str
    error_message: str


class ProjectViewValues(TypedDict, total=False):
    user_id: int
    project_id: int
    viewed_at: datetime


class SavedView(msgspec.Struct, frozen=True):
    """Named views of a project's table (columns, filter, sort, grouping), shared with everybody."""

    id: int
    project_id: int
    user_id: int
    name: str
    state: str
    created_at: datetime


class SavedViewValues(TypedDict, total=False):
    id: int
    project_id: int
    user_id: int
    name: str
    state: str
    created_at: datetime


class PoolBindingValues(TypedDict, total=False):
    pool: str
    workspace_id: int


class Template(msgspec.Struct, frozen=True):
    """Partial configs that experiments and tasks are laid over, as they were sent: with their secrets."""

    id: int
    name: str
    workspace_id: int
    config: JsonObject
    user_id: int
    updated_at: datetime


class TemplateValues(TypedDict, total=False):
    id: int
    name: str
    workspace_id: int
    config: JsonObject
    user_id: int
    updated_at: datetime
