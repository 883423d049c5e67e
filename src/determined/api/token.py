"""Access tokens over HTTP."""

from determined.api.session import Session
from determined.wire.token import (
    CREATE_TOKEN,
    LIST_TOKENS,
    PATCH_TOKEN,
    ListTokens,
    PatchAccessTokenRequest,
    PostAccessTokenRequest,
    PostAccessTokenResponse,
    TokenInfo,
)


def listing(session: Session, *, username: str | None = None, show_inactive: bool = False) -> list[TokenInfo]:
    return session.call(LIST_TOKENS, ListTokens(username=username, show_inactive=show_inactive or None)).token_info


def create(session: Session, user_id: int, *, lifespan: str | None, description: str | None) -> PostAccessTokenResponse:
    request = PostAccessTokenRequest(user_id=user_id, lifespan=lifespan, description=description)
    return session.call(CREATE_TOKEN, request)


def patch(session: Session, changes: PatchAccessTokenRequest) -> None:
    session.call(PATCH_TOKEN, changes, token_id=changes.token_id)
