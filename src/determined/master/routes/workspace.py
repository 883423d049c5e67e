"""Workspaces."""

from typing import Annotated, Any

from litestar import Request, Router, delete, get, patch, post
from litestar.params import QueryParameter

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER, noted
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.params import Limit, Offset
from determined.master.services import listing
from determined.master.services import project as projects
from determined.master.services import workspace as workspaces
from determined.master.services.paging import page
from determined.wire.base import OrderBy
from determined.wire.project import Project
from determined.wire.workspace import (
    DeleteWorkspaceResponse,
    GetWorkspaceProjectsRequestSortBy,
    GetWorkspaceProjectsResponse,
    GetWorkspaceResponse,
    GetWorkspacesRequestSortBy,
    GetWorkspacesResponse,
    PatchWorkspace,
    PatchWorkspaceResponse,
    PostWorkspaceRequest,
    PostWorkspaceResponse,
    Workspace,
)

AnyRequest = Request[Any, Any, Any]
SortOrder = Annotated[OrderBy | None, QueryParameter(name="orderBy")]
UserIds = Annotated[list[int] | None, QueryParameter(name="userIds")]


@get("/api/v1/workspaces", opt=ANY_USER)
async def list_workspaces(
    *,
    ctx: MasterContext,
    caller: Caller,
    limit: Limit = None,
    offset: Offset = None,
    name: str | None = None,
    exact_name: Annotated[str | None, QueryParameter(name="nameCaseSensitive")] = None,
    archived: bool | None = None,
    pinned: bool | None = None,
    users: list[str] | None = None,
    user_ids: UserIds = None,
    order_by: SortOrder = None,
    sort_by: Annotated[GetWorkspacesRequestSortBy | None, QueryParameter(name="sortBy")] = None,
) -> GetWorkspacesResponse:
    wanted = listing.Filter(name, exact_name, archived, user_ids or (), users or ())
    rows = listing.keep(await workspaces.list_all(ctx, caller), wanted)
    rows = [row for row in rows if pinned is None or row.pinned == pinned]
    shown, pagination = page(listing.sort(rows, _workspace_key(sort_by), order_by), limit, offset)
    return GetWorkspacesResponse(workspaces=shown, pagination=pagination)


@post("/api/v1/workspaces", status_code=200, opt=noted(ANY_USER, "agentUserGroup: administrator"))
async def create_workspace(request: AnyRequest, ctx: MasterContext, caller: Caller) -> PostWorkspaceResponse:
    asked = await read_body(request, PostWorkspaceRequest)
    # the official client indexes namespaceBindings although only Kubernetes has namespaces
    return PostWorkspaceResponse(workspace=await workspaces.create(ctx, caller, asked), namespace_bindings={})


@get("/api/v1/workspaces/{workspace_id:int}", opt=ANY_USER)
async def get_workspace(ctx: MasterContext, caller: Caller, workspace_id: int) -> GetWorkspaceResponse:
    return GetWorkspaceResponse(workspace=await workspaces.get(ctx, caller, workspace_id))


@patch("/api/v1/workspaces/{workspace_id:int}", status_code=200, opt=noted(OWNER, "agentUserGroup: administrator"))
async def patch_workspace(
    request: AnyRequest, ctx: MasterContext, caller: Caller, workspace_id: int
) -> PatchWorkspaceResponse:
    asked = await read_body(request, PatchWorkspace)
    changed = await workspaces.patch(ctx, caller, workspace_id, asked)
    return PatchWorkspaceResponse(workspace=changed, namespace_bindings={})


@delete("/api/v1/workspaces/{workspace_id:int}", status_code=200, opt=OWNER)
async def delete_workspace(ctx: MasterContext, caller: Caller, workspace_id: int) -> DeleteWorkspaceResponse:
    return DeleteWorkspaceResponse(completed=await workspaces.delete(ctx, caller, workspace_id))


@post("/api/v1/workspaces/{workspace_id:int}/archive", status_code=200, opt=OWNER)
async def archive_workspace(ctx: MasterContext, caller: Caller, workspace_id: int) -> dict[str, Any]:
    await workspaces.set_archived(ctx, caller, workspace_id, True)
    return {}


@post("/api/v1/workspaces/{workspace_id:int}/unarchive", status_code=200, opt=OWNER)
async def unarchive_workspace(ctx: MasterContext, caller: Caller, workspace_id: int) -> dict[str, Any]:
    await workspaces.set_archived(ctx, caller, workspace_id, False)
    return {}


@post("/api/v1/workspaces/{workspace_id:int}/pin", status_code=200, opt=ANY_USER)
async def pin_workspace(ctx: MasterContext, caller: Caller, workspace_id: int) -> dict[str, Any]:
    await workspaces.set_pinned(ctx, caller, workspace_id, True)
    return {}


@post("/api/v1/workspaces/{workspace_id:int}/unpin", status_code=200, opt=ANY_USER)
async def unpin_workspace(ctx: MasterContext, caller: Caller, workspace_id: int) -> dict[str, Any]:
    await workspaces.set_pinned(ctx, caller, workspace_id, False)
    return {}


@get("/api/v1/workspaces/{workspace_id:int}/projects", opt=ANY_USER)
async def list_projects(
    *,
    ctx: MasterContext,
    caller: Caller,
    workspace_id: int,
    limit: Limit = None,
    offset: Offset = None,
    name: str | None = None,
    archived: bool | None = None,
    users: list[str] | None = None,
    user_ids: UserIds = None,
    order_by: SortOrder = None,
    sort_by: Annotated[GetWorkspaceProjectsRequestSortBy | None, QueryParameter(name="sortBy")] = None,
) -> GetWorkspaceProjectsResponse:
    rows = [projects.to_wire(row) for row in await projects.list_rows(ctx, caller, workspace_id)]
    rows = listing.keep(rows, listing.Filter(name, None, archived, user_ids or (), users or ()))
    shown, pagination = page(listing.sort(rows, _project_key(sort_by), order_by), limit, offset)
    return GetWorkspaceProjectsResponse(projects=shown, pagination=pagination)


@get("/api/v1/workspaces/{workspace_id:int}/list-namespace-bindings", opt=ANY_USER)
async def list_namespace_bindings(ctx: MasterContext, caller: Caller, workspace_id: int) -> dict[str, Any]:
    """Always empty: namespaces belong to Kubernetes."""
    await workspaces.get(ctx, caller, workspace_id)
    return {"namespaceBindings": {}}


@get("/api/v1/workspaces/{workspace_id:int}/get-k8s-resource-quotas", opt=ANY_USER)
async def list_resource_quotas(ctx: MasterContext, caller: Caller, workspace_id: int) -> dict[str, Any]:
    """Always empty: these quotas belong to Kubernetes."""
    await workspaces.get(ctx, caller, workspace_id)
    return {"resourceQuotas": {}}


def _workspace_key(sort_by: GetWorkspacesRequestSortBy | None) -> Any:
    if sort_by == GetWorkspacesRequestSortBy.NAME:
        return lambda row: (row.name.lower(), row.id)
    return _by_id


def _project_key(sort_by: GetWorkspaceProjectsRequestSortBy | None) -> Any:
    kinds = GetWorkspaceProjectsRequestSortBy
    if sort_by == kinds.NAME:
        return lambda row: (row.name.lower(), row.id)
    if sort_by == kinds.DESCRIPTION:
        return lambda row: ((row.description or "").lower(), row.id)
    if sort_by == kinds.LAST_EXPERIMENT_START_TIME:
        return lambda row: (row.last_experiment_started_at or "", row.id)
    return _by_id  # ids grow with creation time


def _by_id(row: Workspace | Project) -> int:
    return row.id


router = Router(
    path="",
    route_handlers=[
        list_workspaces,
        create_workspace,
        get_workspace,
        patch_workspace,
        delete_workspace,
        archive_workspace,
        unarchive_workspace,
        pin_workspace,
        unpin_workspace,
        list_projects,
        list_namespace_bindings,
        list_resource_quotas,
    ],
)
