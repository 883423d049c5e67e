"""Saved views of a project's table."""

from typing import Any

from litestar import Request, Router, delete, get, patch, post

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.services import view as views
from determined.wire.view import (
    GetSavedViewsResponse,
    PatchSavedViewRequest,
    PostSavedViewRequest,
    SavedViewResponse,
)

AnyRequest = Request[Any, Any, Any]


@get("/api/v1/projects/{project_id:int}/views", opt=ANY_USER)
async def list_views(ctx: MasterContext, project_id: int) -> GetSavedViewsResponse:
    return GetSavedViewsResponse(views=await views.list_views(ctx, project_id))


@post("/api/v1/projects/{project_id:int}/views", status_code=200, opt=ANY_USER)
async def create_view(request: AnyRequest, ctx: MasterContext, caller: Caller, project_id: int) -> SavedViewResponse:
    asked = await read_body(request, PostSavedViewRequest)
    return SavedViewResponse(view=await views.create(ctx, caller, project_id, asked))


@patch("/api/v1/projects/{project_id:int}/views/{view_id:int}", status_code=200, opt=OWNER)
async def change_view(
    request: AnyRequest, ctx: MasterContext, caller: Caller, project_id: int, view_id: int
) -> SavedViewResponse:
    asked = await read_body(request, PatchSavedViewRequest)
    return SavedViewResponse(view=await views.change(ctx, caller, project_id, view_id, asked))


@delete("/api/v1/projects/{project_id:int}/views/{view_id:int}", status_code=200, opt=OWNER)
async def delete_view(ctx: MasterContext, caller: Caller, project_id: int, view_id: int) -> dict[str, Any]:
    await views.remove(ctx, caller, project_id, view_id)
    return {}


router = Router(path="", route_handlers=[list_views, create_view, change_view, delete_view])
