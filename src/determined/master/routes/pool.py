"""Resource pools and the workspaces they are bound to."""

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ADMIN, ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import pool as pools
from determined.master.services.paging import page
from determined.wire.base import Paged
from determined.wire.pool import (
    BIND_POOL,
    LIST_POOL_BINDINGS,
    LIST_POOLS,
    OVERWRITE_POOL_BINDINGS,
    UNBIND_POOL,
    BindRPToWorkspaceRequest,
    GetResourcePoolsResponse,
    ListPools,
    ListWorkspacesBoundToRPResponse,
    OverwriteRPWorkspaceBindingsRequest,
    UnbindRPFromWorkspaceRequest,
)
from determined.wire.workspace import LIST_WORKSPACE_POOLS, ListRPsBoundToWorkspaceResponse


@serve(LIST_POOLS, ANY_USER)
async def list_pools(ctx: MasterContext, params: ListPools) -> GetResourcePoolsResponse:
    shown, pagination = page(await pools.list_pools(ctx, unbound=params.unbound), params.limit, params.offset)
    return GetResourcePoolsResponse(resource_pools=shown, pagination=pagination)


@serve(LIST_POOL_BINDINGS, ANY_USER)
async def list_bindings(ctx: MasterContext, pool: str, params: Paged) -> ListWorkspacesBoundToRPResponse:
    shown, pagination = page(await pools.bindings(ctx, pool), params.limit, params.offset)
    return ListWorkspacesBoundToRPResponse(workspace_ids=shown, pagination=pagination)


@serve(BIND_POOL, ADMIN)
async def bind(payload: BindRPToWorkspaceRequest, ctx: MasterContext, caller: Caller, pool: str) -> None:
    await pools.bind(ctx, caller, pool, payload.workspace_ids or (), payload.workspace_names or ())


@serve(OVERWRITE_POOL_BINDINGS, ADMIN)
async def overwrite_bindings(
    payload: OverwriteRPWorkspaceBindingsRequest, ctx: MasterContext, caller: Caller, pool: str
) -> None:
    await pools.bind(ctx, caller, pool, payload.workspace_ids or (), payload.workspace_names or (), replace=True)


@serve(UNBIND_POOL, ADMIN)
async def unbind(payload: UnbindRPFromWorkspaceRequest, ctx: MasterContext, caller: Caller, pool: str) -> None:
    await pools.unbind(ctx, caller, pool, payload.workspace_ids or (), payload.workspace_names or ())


@serve(LIST_WORKSPACE_POOLS, ANY_USER)
async def available_pools(ctx: MasterContext, workspace_id: int, params: Paged) -> ListRPsBoundToWorkspaceResponse:
    shown, pagination = page(await pools.available_pools(ctx, workspace_id), params.limit, params.offset)
    return ListRPsBoundToWorkspaceResponse(resource_pools=shown, pagination=pagination)
