"""Saved views of a project's table."""

from determined.errors import AlreadyExists, FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import view as views
from determined.wire.view import (
    CREATE_VIEW,
    DELETE_VIEW,
    LIST_VIEWS,
    PATCH_VIEW,
    GetSavedViewsResponse,
    PatchSavedViewRequest,
    PostSavedViewRequest,
    SavedViewResponse,
)


@serve(LIST_VIEWS, ANY_USER)
async def list_views(ctx: MasterContext, project_id: int) -> GetSavedViewsResponse:
    return GetSavedViewsResponse(views=await views.list_views(ctx, project_id))


@serve(CREATE_VIEW, ANY_USER, errors=(AlreadyExists, FailedPrecondition))
async def create_view(
    payload: PostSavedViewRequest, ctx: MasterContext, caller: Caller, project_id: int
) -> SavedViewResponse:
    return SavedViewResponse(view=await views.create(ctx, caller, project_id, payload))


@serve(PATCH_VIEW, OWNER, errors=(AlreadyExists,))
async def change_view(
    payload: PatchSavedViewRequest, ctx: MasterContext, caller: Caller, project_id: int, view_id: int
) -> SavedViewResponse:
    return SavedViewResponse(view=await views.change(ctx, caller, project_id, view_id, payload))


@serve(DELETE_VIEW, OWNER)
async def delete_view(ctx: MasterContext, caller: Caller, project_id: int, view_id: int) -> None:
    await views.remove(ctx, caller, project_id, view_id)
