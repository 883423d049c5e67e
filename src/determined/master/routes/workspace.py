"""Workspaces."""

from typing import Any

from determined._json import JsonObject
from determined.errors import AlreadyExists, FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER, noted
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import listing
from determined.master.services import project as projects
from determined.master.services import workspace as workspaces
from determined.master.services.paging import page
from determined.wire.project import Project
from determined.wire.workspace import (
    ARCHIVE_WORKSPACE,
    CREATE_WORKSPACE,
    DELETE_WORKSPACE,
    GET_WORKSPACE,
    LIST_NAMESPACE_BINDINGS,
    LIST_PROJECTS,
    LIST_RESOURCE_QUOTAS,
    LIST_WORKSPACES,
    PATCH_WORKSPACE,
    PIN_WORKSPACE,
    UNARCHIVE_WORKSPACE,
    UNPIN_WORKSPACE,
    DeleteWorkspaceResponse,
    GetWorkspaceProjectsRequestSortBy,
    GetWorkspaceProjectsResponse,
    GetWorkspaceResponse,
    GetWorkspacesRequestSortBy,
    GetWorkspacesResponse,
    ListProjects,
    ListWorkspaces,
    PatchWorkspace,
    PatchWorkspaceResponse,
    PostWorkspaceRequest,
    PostWorkspaceResponse,
    Workspace,
)


@serve(LIST_WORKSPACES, ANY_USER)
async def list_workspaces(ctx: MasterContext, caller: Caller, params: ListWorkspaces) -> GetWorkspacesResponse:
    every = await workspaces.list_all(ctx, caller)
    rows = [row for row in listing.keep(every, params) if _fits(row, params)]
    shown, pagination = page(
        listing.sort(rows, _workspace_key(params.sort_by), params.order_by), params.limit, params.offset
    )
    return GetWorkspacesResponse(workspaces=shown, pagination=pagination)


def _fits(row: Workspace, params: ListWorkspaces) -> bool:
    if params.name_case_sensitive is not None and row.name != params.name_case_sensitive:
        return False
    return params.pinned is None or row.pinned == params.pinned


@serve(CREATE_WORKSPACE, noted(ANY_USER, "agentUserGroup: administrator"), errors=(AlreadyExists,))
async def create_workspace(payload: PostWorkspaceRequest, ctx: MasterContext, caller: Caller) -> PostWorkspaceResponse:
    # the official client indexes namespaceBindings although only Kubernetes has namespaces
    return PostWorkspaceResponse(workspace=await workspaces.create(ctx, caller, payload), namespace_bindings={})


@serve(GET_WORKSPACE, ANY_USER)
async def get_workspace(ctx: MasterContext, caller: Caller, workspace_id: int) -> GetWorkspaceResponse:
    return GetWorkspaceResponse(workspace=await workspaces.get(ctx, caller, workspace_id))


@serve(PATCH_WORKSPACE, noted(OWNER, "agentUserGroup: administrator"), errors=(AlreadyExists, FailedPrecondition))
async def patch_workspace(
    payload: PatchWorkspace, ctx: MasterContext, caller: Caller, workspace_id: int
) -> PatchWorkspaceResponse:
    changed = await workspaces.patch(ctx, caller, workspace_id, payload)
    return PatchWorkspaceResponse(workspace=changed, namespace_bindings={})


@serve(DELETE_WORKSPACE, OWNER, errors=(FailedPrecondition,))
async def delete_workspace(ctx: MasterContext, caller: Caller, workspace_id: int) -> DeleteWorkspaceResponse:
    return DeleteWorkspaceResponse(completed=await workspaces.delete(ctx, caller, workspace_id))


@serve(ARCHIVE_WORKSPACE, OWNER, errors=(FailedPrecondition,))
async def archive_workspace(ctx: MasterContext, caller: Caller, workspace_id: int) -> None:
    await workspaces.set_archived(ctx, caller, workspace_id, True)


@serve(UNARCHIVE_WORKSPACE, OWNER, errors=(FailedPrecondition,))
async def unarchive_workspace(ctx: MasterContext, caller: Caller, workspace_id: int) -> None:
    await workspaces.set_archived(ctx, caller, workspace_id, False)


@serve(PIN_WORKSPACE, ANY_USER)
async def pin_workspace(ctx: MasterContext, caller: Caller, workspace_id: int) -> None:
    await workspaces.set_pinned(ctx, caller, workspace_id, True)


@serve(UNPIN_WORKSPACE, ANY_USER)
async def unpin_workspace(ctx: MasterContext, caller: Caller, workspace_id: int) -> None:
    await workspaces.set_pinned(ctx, caller, workspace_id, False)


@serve(LIST_PROJECTS, ANY_USER)
async def list_projects(
    ctx: MasterContext, caller: Caller, workspace_id: int, params: ListProjects
) -> GetWorkspaceProjectsResponse:
    every = [projects.to_wire(row) for row in await projects.list_rows(ctx, caller, workspace_id)]
    rows = listing.sort(listing.keep(every, params), _project_key(params.sort_by), params.order_by)
    shown, pagination = page(rows, params.limit, params.offset)
    return GetWorkspaceProjectsResponse(projects=shown, pagination=pagination)


@serve(LIST_NAMESPACE_BINDINGS, ANY_USER)
async def list_namespace_bindings(ctx: MasterContext, caller: Caller, workspace_id: int) -> JsonObject:
    """Answer none: namespaces belong to Kubernetes."""
    await workspaces.get(ctx, caller, workspace_id)
    return {"namespaceBindings": {}}


@serve(LIST_RESOURCE_QUOTAS, ANY_USER)
async def list_resource_quotas(ctx: MasterContext, caller: Caller, workspace_id: int) -> JsonObject:
    """Answer none: these quotas belong to Kubernetes."""
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
