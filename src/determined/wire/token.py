"""Access tokens."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from determined.wire.base import Ordered, Pagination
from determined.wire.codec import Wire
from determined.wire.operation import Operation


class GetAccessTokensRequestSortBy(StrEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    USER_ID = "SORT_BY_USER_ID"
    EXPIRY = "SORT_BY_EXPIRY"
    CREATED_AT = "SORT_BY_CREATED_AT"
    TOKEN_TYPE = "SORT_BY_TOKEN_TYPE"
    REVOKED = "SORT_BY_REVOKED"
    DESCRIPTION = "SORT_BY_DESCRIPTION"


class TokenType(StrEnum):
    UNSPECIFIED = "TOKEN_TYPE_UNSPECIFIED"
    USER_SESSION = "TOKEN_TYPE_USER_SESSION"
    ACCESS_TOKEN = "TOKEN_TYPE_ACCESS_TOKEN"


class TokenInfo(Wire):
    id: int
    user_id: int
    created_at: str | None = None
    description: str | None = None
    expiry: str | None = None
    revoked: bool | None = None
    token_type: TokenType | None = None


class GetAccessTokensResponse(Wire):
    token_info: list[TokenInfo]
    pagination: Pagination | None = None


class PostAccessTokenRequest(Wire):
    user_id: int
    description: str | None = None
    lifespan: str | None = None


class PostAccessTokenResponse(Wire):
    token: str | None = None
    token_id: int | None = None


class PatchAccessTokenRequest(Wire):
    token_id: int
    description: str | None = None
    set_revoked: bool | None = None


class PatchAccessTokenResponse(Wire):
    token_info: TokenInfo | None = None


class ListTokens(Ordered):
    username: Annotated[str | None, Meta(description="Of this user.")] = None
    token_ids: Annotated[list[int] | None, Meta(description="Any of these ids.")] = None
    show_inactive: Annotated[bool | None, Meta(description="Also expired and revoked ones.")] = None
    sort_by: Annotated[GetAccessTokensRequestSortBy | None, Meta(description="What to sort by.")] = None


CREATE_TOKEN = Operation("POST", "/api/v1/tokens", PostAccessTokenRequest, PostAccessTokenResponse)
LIST_TOKENS = Operation("GET", "/api/v1/tokens", ListTokens, GetAccessTokensResponse)
PATCH_TOKEN = Operation("PATCH", "/api/v1/tokens/{token_id:int}", PatchAccessTokenRequest, PatchAccessTokenResponse)
