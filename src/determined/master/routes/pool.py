"""Resource pools and the workspaces they are bound to."""

from typing import Any

from litestar import Request, Router, delete, get, post, put

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ADMIN, ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.params import Limit, Offset
from determined.master.services import pool as pools
from determined.master.services.paging import page
from determined.wire.pool import (
    BindRPToWorkspaceRequest,
    GetResourcePoolsResponse,
    ListWorkspacesBoundToRPResponse,
    OverwriteRPWorkspaceBindingsRequest,
    UnbindRPFromWorkspaceRequest,
)
from determined.wire.workspace import ListRPsBoundToWorkspaceResponse

AnyRequest = Request[Any, Any, Any]

_BINDINGS = "/api/v1/resource-pools/{pool:str}/workspace-bindings"


@get("/api/v1/resource-pools", opt=ANY_USER)
async def list_pools(
    ctx: MasterContext, limit: Limit = None, offset: Offset = None, unbound: bool = False
) -> GetResourcePoolsResponse:
    shown, pagination = page(await pools.list_pools(ctx, unbound=unbound), limit, offset)
    return GetResourcePoolsResponse(resource_pools=shown, pagination=pagination)


@get(_BINDINGS, opt=ANY_USER)
async def list_bindings(
    ctx: MasterContext, pool: str, limit: Limit = None, offset: Offset = None
) -> ListWorkspacesBoundToRPResponse:
    shown, pagination = page(await pools.bindings(ctx, pool), limit, offset)
    return ListWorkspacesBoundToRPResponse(workspace_ids=shown, pagination=pagination)


@post(_BINDINGS, status_code=200, opt=ADMIN)
async def bind(request: AnyRequest, ctx: MasterContext, caller: Caller, pool: str) -> dict[str, Any]:
    asked = await read_body(request, BindRPToWorkspaceRequest)
    await pools.bind(ctx, caller, pool, asked.workspace_ids or (), asked.workspace_names or ())
    return {}


@put(_BINDINGS, status_code=200, opt=ADMIN)
async def overwrite_bindings(request: AnyRequest, ctx: MasterContext, caller: Caller, pool: str) -> dict[str, Any]:
    asked = await read_body(request, OverwriteRPWorkspaceBindingsRequest)
    await pools.bind(ctx, caller, pool, asked.workspace_ids or (), asked.workspace_names or (), replace=True)
    return {}


@delete(_BINDINGS, status_code=200, opt=ADMIN)
async def unbind(request: AnyRequest, ctx: MasterContext, caller: Caller, pool: str) -> dict[str, Any]:
    asked = await read_body(request, UnbindRPFromWorkspaceRequest)
    await pools.unbind(ctx, caller, pool, asked.workspace_ids or (), asked.workspace_names or ())
    return {}


@get("/api/v1/workspaces/{workspace_id:int}/available-resource-pools", opt=ANY_USER)
async def available_pools(
    ctx: MasterContext, workspace_id: int, limit: Limit = None, offset: Offset = None
) -> ListRPsBoundToWorkspaceResponse:
    shown, pagination = page(await pools.available_pools(ctx, workspace_id), limit, offset)
    return ListRPsBoundToWorkspaceResponse(resource_pools=shown, pagination=pagination)


router = Router(path="", route_handlers=[available_pools, bind, list_bindings, list_pools, overwrite_bindings, unbind])
