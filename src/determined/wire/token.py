"""Access tokens."""

from enum import StrEnum

from determined.wire.base import Pagination
from determined.wire.codec import Wire


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
