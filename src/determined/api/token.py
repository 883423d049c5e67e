"""Access tokens over HTTP."""

from typing import Any

from determined.api.paging import given
from determined.api.session import Session
from determined.wire.token import GetAccessTokensResponse, PostAccessTokenResponse, TokenInfo

_ROOT = "/api/v1/tokens"


def listing(session: Session, *, username: str | None = None, show_inactive: bool = False) -> list[TokenInfo]:
    params = given(username=username, showInactive=show_inactive or None)
    return session.get_as(_ROOT, GetAccessTokensResponse, params=params).token_info


def create(session: Session, user_id: int, *, lifespan: str | None, description: str | None) -> PostAccessTokenResponse:
    body = given(userId=user_id, lifespan=lifespan, description=description)
    return session.post_as(_ROOT, body, PostAccessTokenResponse)


def patch(session: Session, token_id: int, changes: dict[str, Any]) -> None:
    session.patch(f"{_ROOT}/{token_id}", {"tokenId": token_id, **changes})
