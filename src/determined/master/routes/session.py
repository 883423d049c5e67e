"""Login, logout, one-time links, who am I. A browser gets its token as a cookie that no script can read."""

from datetime import timedelta
from typing import Any, Literal

from litestar import Response
from litestar.datastructures import Cookie

from determined.errors import Forbidden, Unauthenticated
from determined.master.auth.identity import Caller
from determined.master.auth.login_link import LoginLinks
from determined.master.auth.login_throttle import LoginThrottle
from determined.master.auth.permission import ANY_USER, PUBLIC, USER_OR_TASK
from determined.master.auth.session_token import SECURE_SESSION_COOKIE, SESSION_COOKIE, SESSION_LIFETIME
from determined.master.context import MasterContext
from determined.master.routes.limits import PUBLIC_BODY
from determined.master.routes.peer import peer_of
from determined.master.routes.request import AnyRequest
from determined.master.routes.serve import serve
from determined.master.services import session as sessions
from determined.master.services import user as users
from determined.wire.user import (
    GET_CURRENT_USER,
    GET_ME,
    ISSUE_LOGIN_LINK,
    LOGIN,
    LOGOUT,
    REDEEM_LOGIN_LINK,
    CurrentUserResponse,
    GetMeResponse,
    LoginLinkResponse,
    LoginRequest,
    LoginResponse,
    RedeemLoginLinkRequest,
)

# The page itself is public and asks for its data from its own origin, so links from other sites work under `strict`.
_SAME_SITE: Literal["strict"] = "strict"


@serve(LOGIN, PUBLIC, errors=(Unauthenticated, Forbidden), max_body=PUBLIC_BODY)
async def login(
    request: AnyRequest, payload: LoginRequest, ctx: MasterContext, throttle: LoginThrottle
) -> Response[LoginResponse]:
    answer = await sessions.login(ctx, throttle, payload, await peer_of(request))
    return _signed_in(request, sessions.Opened(answer, SESSION_LIFETIME))


@serve(ISSUE_LOGIN_LINK, ANY_USER)
async def issue_link(ctx: MasterContext, caller: Caller, links: LoginLinks) -> LoginLinkResponse:
    return await sessions.issue_link(ctx, links, caller)


@serve(REDEEM_LOGIN_LINK, PUBLIC, errors=(Unauthenticated,), max_body=PUBLIC_BODY)
async def redeem_link(
    request: AnyRequest, payload: RedeemLoginLinkRequest, ctx: MasterContext, links: LoginLinks
) -> Response[LoginResponse]:
    return _signed_in(request, await sessions.redeem_link(ctx, links, payload.code))


@serve(LOGOUT, USER_OR_TASK)
async def logout(request: AnyRequest, ctx: MasterContext, caller: Caller) -> Response[dict[str, Any]]:
    await sessions.logout(ctx, caller)
    return Response({}, cookies=[_cookie(request, "", timedelta(0))])


@serve(GET_ME, USER_OR_TASK)
async def me(ctx: MasterContext, caller: Caller) -> GetMeResponse:
    return GetMeResponse(user=await users.get(ctx, caller.user_id))


@serve(GET_CURRENT_USER, USER_OR_TASK)
async def current_user(ctx: MasterContext, caller: Caller) -> CurrentUserResponse:
    return CurrentUserResponse(user=await users.get(ctx, caller.user_id))


def _signed_in(request: AnyRequest, opened: sessions.Opened) -> Response[LoginResponse]:
    cookies = [_cookie(request, opened.answer.token, opened.lifetime)] if _is_browser(request) else None
    return Response(opened.answer, cookies=cookies)


def _is_browser(request: AnyRequest) -> bool:
    # over plain HTTP to another host browsers leave Sec-Fetch-Site out, but a POST always names its origin
    return "sec-fetch-site" in request.headers or "origin" in request.headers


def _cookie(request: AnyRequest, token: str, lifetime: timedelta) -> Cookie:
    is_encrypted = _is_encrypted(request)
    return Cookie(
        key=SECURE_SESSION_COOKIE if is_encrypted else SESSION_COOKIE,
        value=token,
        path="/",
        httponly=True,
        samesite=_SAME_SITE,
        secure=is_encrypted,
        max_age=int(lifetime.total_seconds()),
    )


def _is_encrypted(request: AnyRequest) -> bool:
    """TLS may end at a proxy in front of us; then only the browser's own words tell."""
    return request.url.scheme == "https" or request.headers.get("origin", "").startswith("https:")
