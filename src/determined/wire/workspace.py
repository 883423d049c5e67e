"""Workspaces."""

from enum import StrEnum
from typing import Any

from msgspec import UNSET, UnsetType

from determined.wire.base import Pagination
from determined.wire.codec import Wire
from determined.wire.project import Project, WorkspaceState
from determined.wire.user import AgentUserGroup


class Workspace(Wire):
    archived: bool
    error_message: str
    id: int
    immutable: bool
    name: str
    num_experiments: int
    num_projects: int
    pinned: bool
    state: WorkspaceState
    user_id: int
    username: str
    agent_user_group: AgentUserGroup | None = None
    auto_created_namespace: str | None = None
    checkpoint_storage_config: dict[str, Any] | None = None
    default_aux_pool: str | None = None
    default_compute_pool: str | None = None
    pinned_at: str | None = None


class GetWorkspaceResponse(Wire):
    workspace: Workspace


class GetWorkspacesRequestSortBy(StrEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    ID = "SORT_BY_ID"
    NAME = "SORT_BY_NAME"


class GetWorkspacesResponse(Wire):
    pagination: Pagination
    workspaces: list[Workspace]


class WorkspaceNamespaceMeta(Wire):
    auto_create_namespace: bool | None = None
    auto_create_namespace_all_clusters: bool | None = None
    cluster_name: str | None = None
    namespace: str | None = None
    resource_quota: int | None = None


class PostWorkspaceRequest(Wire):
    name: str
    agent_user_group: AgentUserGroup | None = None
    checkpoint_storage_config: dict[str, Any] | None = None
    cluster_namespace_meta: dict[str, WorkspaceNamespaceMeta] | None = None
    cluster_quota_pairs: dict[str, int] | None = None
    default_aux_pool: str | None = None
    default_compute_pool: str | None = None


class WorkspaceNamespaceBinding(Wire):
    auto_create_namespace: bool | None = None
    cluster_name: str | None = None
    namespace: str | None = None
    workspace_id: int | None = None


class PostWorkspaceResponse(Wire):
    workspace: Workspace
    namespace_bindings: dict[str, WorkspaceNamespaceBinding] | None = None


class PatchWorkspace(Wire):
    """A null clears what it names; an absent field stays."""

    agent_user_group: AgentUserGroup | UnsetType | None = UNSET
    checkpoint_storage_config: dict[str, Any] | UnsetType | None = UNSET
    cluster_namespace_meta: dict[str, WorkspaceNamespaceMeta] | UnsetType | None = UNSET
    default_aux_pool: str | UnsetType | None = UNSET
    default_aux_resource_pool: str | UnsetType | None = UNSET
    default_compute_pool: str | UnsetType | None = UNSET
    default_compute_resource_pool: str | UnsetType | None = UNSET
    name: str | None = None


class PatchWorkspaceResponse(Wire):
    workspace: Workspace
    namespace_bindings: dict[str, WorkspaceNamespaceBinding] | None = None


class DeleteWorkspaceResponse(Wire):
    completed: bool


class GetWorkspaceProjectsRequestSortBy(StrEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    CREATION_TIME = "SORT_BY_CREATION_TIME"
    LAST_EXPERIMENT_START_TIME = "SORT_BY_LAST_EXPERIMENT_START_TIME"
    NAME = "SORT_BY_NAME"
    DESCRIPTION = "SORT_BY_DESCRIPTION"
    ID = "SORT_BY_ID"


class GetWorkspaceProjectsResponse(Wire):
    pagination: Pagination
    projects: list[Project]


class ListRPsBoundToWorkspaceResponse(Wire):
    pagination: Pagination | None = None
    resource_pools: list[str] | None = None
