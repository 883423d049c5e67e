"""Workspaces."""

from enum import StrEnum
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from determined._json import JsonObject
from determined.wire.base import Ordered, Paged, Pagination
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation
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


class ListOwned(Ordered):
    """Conditions on workspaces and on projects."""

    name: Annotated[str | None, Meta(description="Part of the name, whatever the case.")] = None
    archived: Annotated[bool | None, Meta(description="Only archived ones, or only others; both by default.")] = None
    users: Annotated[list[str] | None, Meta(description="Owned by any of these, by name.")] = None
    user_ids: Annotated[list[int] | None, Meta(description="Owned by any of these, by id.")] = None


class ListWorkspaces(ListOwned):
    name_case_sensitive: Annotated[str | None, Meta(description="The whole name, exactly.")] = None
    pinned: Annotated[bool | None, Meta(description="Only those that the caller has pinned, or only others.")] = None
    sort_by: Annotated[GetWorkspacesRequestSortBy | None, Meta(description="What to sort by; the id by default.")] = (
        None
    )


class ListProjects(ListOwned):
    sort_by: Annotated[
        GetWorkspaceProjectsRequestSortBy | None, Meta(description="What to sort by; the id by default.")
    ] = None


LIST_WORKSPACE_POOLS = Operation(
    "GET", "/api/v1/workspaces/{workspace_id:int}/available-resource-pools", Paged, ListRPsBoundToWorkspaceResponse
)
CREATE_WORKSPACE = Operation("POST", "/api/v1/workspaces", PostWorkspaceRequest, PostWorkspaceResponse)
LIST_WORKSPACES = Operation("GET", "/api/v1/workspaces", ListWorkspaces, GetWorkspacesResponse)
DELETE_WORKSPACE = Operation(
    "DELETE", "/api/v1/workspaces/{workspace_id:int}", Nothing, DeleteWorkspaceResponse, id_names=("id",)
)
GET_WORKSPACE = Operation(
    "GET", "/api/v1/workspaces/{workspace_id:int}", Nothing, GetWorkspaceResponse, id_names=("id",)
)
PATCH_WORKSPACE = Operation(
    "PATCH", "/api/v1/workspaces/{workspace_id:int}", PatchWorkspace, PatchWorkspaceResponse, id_names=("id",)
)
ARCHIVE_WORKSPACE = Operation(
    "POST", "/api/v1/workspaces/{workspace_id:int}/archive", Nothing, Nothing, id_names=("id",)
)
UNARCHIVE_WORKSPACE = Operation(
    "POST", "/api/v1/workspaces/{workspace_id:int}/unarchive", Nothing, Nothing, id_names=("id",)
)
PIN_WORKSPACE = Operation("POST", "/api/v1/workspaces/{workspace_id:int}/pin", Nothing, Nothing, id_names=("id",))
UNPIN_WORKSPACE = Operation("POST", "/api/v1/workspaces/{workspace_id:int}/unpin", Nothing, Nothing, id_names=("id",))
LIST_PROJECTS = Operation(
    "GET",
    "/api/v1/workspaces/{workspace_id:int}/projects",
    ListProjects,
    GetWorkspaceProjectsResponse,
    id_names=("id",),
)
LIST_NAMESPACE_BINDINGS = Operation(
    "GET",
    "/api/v1/workspaces/{workspace_id:int}/list-namespace-bindings",
    Nothing,
    JsonObject,
    rpc="ListWorkspaceNamespaceBindings",
    id_names=("id",),
)
LIST_RESOURCE_QUOTAS = Operation(
    "GET",
    "/api/v1/workspaces/{workspace_id:int}/get-k8s-resource-quotas",
    Nothing,
    JsonObject,
    rpc="GetKubernetesResourceQuotas",
    id_names=("id",),
)
