"""Saved views: how a project's table is looked at, kept under a name for everybody."""

from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation


class SavedView(Wire):
    """`state`: the query string of the page's address."""

    id: int
    project_id: int
    name: str
    state: str
    user_id: int
    username: str
    created_at: str


class GetSavedViewsResponse(Wire):
    views: list[SavedView]


class PostSavedViewRequest(Wire):
    name: str
    state: str


class PatchSavedViewRequest(Wire):
    name: str | None = None
    state: str | None = None


class SavedViewResponse(Wire):
    view: SavedView


CREATE_VIEW = Operation(
    "POST", "/api/v1/projects/{project_id:int}/views", PostSavedViewRequest, SavedViewResponse, ours=True
)
LIST_VIEWS = Operation("GET", "/api/v1/projects/{project_id:int}/views", Nothing, GetSavedViewsResponse, ours=True)
DELETE_VIEW = Operation("DELETE", "/api/v1/projects/{project_id:int}/views/{view_id:int}", Nothing, Nothing, ours=True)
PATCH_VIEW = Operation(
    "PATCH",
    "/api/v1/projects/{project_id:int}/views/{view_id:int}",
    PatchSavedViewRequest,
    SavedViewResponse,
    ours=True,
)
