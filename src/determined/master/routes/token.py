"""Access tokens."""

from typing import Annotated, Any

from litestar import Request, Router, get, patch, post
from litestar.params import QueryParameter

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER, noted
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.params import Limit, Offset
from determined.master.services import token as tokens
from determined.master.services.paging import page
from determined.wire.base import OrderBy
from determined.wire.token import (
    GetAccessTokensRequestSortBy,
    GetAccessTokensResponse,
    PatchAccessTokenRequest,
    PatchAccessTokenResponse,
    PostAccessTokenRequest,
    PostAccessTokenResponse,
)

AnyRequest = Request[Any, Any, Any]


@get("/api/v1/tokens", opt=noted(ANY_USER, "those of others: administrator"))
async def list_tokens(
    *,
    ctx: MasterContext,
    caller: Caller,
    limit: Limit = None,
    offset: Offset = None,
    username: str | None = None,
    token_ids: Annotated[list[int] | None, QueryParameter(name="tokenIds")] = None,
    show_inactive: Annotated[bool | None, QueryParameter(name="showInactive")] = None,
    order_by: Annotated[OrderBy | None, QueryParameter(name="orderBy")] = None,
    sort_by: Annotated[GetAccessTokensRequestSortBy | None, QueryParameter(name="sortBy")] = None,
) -> GetAccessTokensResponse:
    query = tokens.TokenQuery(username, token_ids or (), bool(show_inactive), sort_by, order_by)
    shown, pagination = page(await tokens.list_tokens(ctx, caller, query), limit, offset)
    return GetAccessTokensResponse(token_info=shown, pagination=pagination)


@post("/api/v1/tokens", status_code=200, opt=noted(ANY_USER, "for others: administrator"))
async def create_token(request: AnyRequest, ctx: MasterContext, caller: Caller) -> PostAccessTokenResponse:
    return await tokens.create(ctx, caller, await read_body(request, PostAccessTokenRequest))


@patch("/api/v1/tokens/{token_id:int}", status_code=200, opt=OWNER)
async def patch_token(
    request: AnyRequest, ctx: MasterContext, caller: Caller, token_id: int
) -> PatchAccessTokenResponse:
    asked = await read_body(request, PatchAccessTokenRequest)
    return PatchAccessTokenResponse(token_info=await tokens.patch(ctx, caller, token_id, asked))


router = Router(path="", route_handlers=[list_tokens, create_token, patch_token])
