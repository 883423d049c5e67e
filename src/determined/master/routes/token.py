"""Access tokens."""

from determined.errors import FailedPrecondition
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ANY_USER, OWNER, noted
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import token as tokens
from determined.master.services.paging import page
from determined.wire.token import (
    CREATE_TOKEN,
    LIST_TOKENS,
    PATCH_TOKEN,
    GetAccessTokensResponse,
    ListTokens,
    PatchAccessTokenRequest,
    PatchAccessTokenResponse,
    PostAccessTokenRequest,
    PostAccessTokenResponse,
)


@serve(LIST_TOKENS, noted(ANY_USER, "those of others: administrator"))
async def list_tokens(ctx: MasterContext, caller: Caller, params: ListTokens) -> GetAccessTokensResponse:
    shown, pagination = page(await tokens.list_tokens(ctx, caller, params), params.limit, params.offset)
    return GetAccessTokensResponse(token_info=shown, pagination=pagination)


@serve(CREATE_TOKEN, noted(ANY_USER, "for others: administrator"), errors=(FailedPrecondition,))
async def create_token(payload: PostAccessTokenRequest, ctx: MasterContext, caller: Caller) -> PostAccessTokenResponse:
    return await tokens.create(ctx, caller, payload)


@serve(PATCH_TOKEN, OWNER, errors=(FailedPrecondition,))
async def patch_token(
    payload: PatchAccessTokenRequest, ctx: MasterContext, caller: Caller, token_id: int
) -> PatchAccessTokenResponse:
    return PatchAccessTokenResponse(token_info=await tokens.patch(ctx, caller, token_id, payload))
