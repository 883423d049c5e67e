"""Saved views: how a project's table is looked at, kept under a name for everybody."""

from determined.wire.codec import Wire


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
